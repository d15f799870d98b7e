import type { ComponentProps, ReactNode } from 'react';

type Look = 'primary' | 'plain' | 'danger' | 'quiet';

export interface ButtonProps extends Omit<ComponentProps<'button'>, 'disabled'> {
  look?: Look;
  /** Why it cannot be pressed; shown where the pointer rests, and told to readers of the screen. */
  disabledFor?: string | undefined;
  isBusy?: boolean;
  icon?: ReactNode;
}

/** A button that stays reachable by keyboard while it cannot be pressed, and says why. */
export function Button(props: ButtonProps): ReactNode {
  const { look = 'plain', disabledFor, isBusy = false, icon, children, onClick, ...rest } = props;
  const isOff = disabledFor !== undefined || isBusy;
  return (
    <button
      type="button"
      {...rest}
      className={`button button-${look} ${rest.className ?? ''}`}
      title={disabledFor ?? rest.title}
      aria-disabled={isOff || undefined}
      aria-busy={isBusy || undefined}
      onClick={(event) => {
        if (isOff) event.preventDefault();
        else onClick?.(event);
      }}
    >
      {isBusy ? <span className="spinner" aria-hidden /> : icon}
      {children}
    </button>
  );
}

/** A button of an icon alone. */
export function IconButton({ label, ...rest }: ButtonProps & { label: string }): ReactNode {
  return (
    <Button
      look="quiet"
      {...rest}
      className={`button-icon ${rest.className ?? ''}`}
      aria-label={label}
      title={label}
    />
  );
}
