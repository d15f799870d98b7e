import { CircleAlert, Info, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';

const icons = { bad: CircleAlert, warning: TriangleAlert, info: Info };

/** Something that who looks at the page must know first, and what to do about it. */
export function Notice(props: {
  tone: keyof typeof icons;
  title: ReactNode;
  children?: ReactNode;
}): ReactNode {
  const Icon = icons[props.tone];
  return (
    <div className={`notice notice-${props.tone}`}>
      <Icon size={18} aria-hidden />
      <div>
        <p className="notice-title">{props.title}</p>
        {props.children && <p>{props.children}</p>}
      </div>
    </div>
  );
}
