import { createContext, useContext, useMemo, useRef, type ReactNode } from 'react';
import { de } from './de.ts';
import { en, type TextKey, type Texts } from './en.ts';
import { useKeptFocus } from './kept-focus.ts';

export type { TextKey, Texts } from './en.ts';

/** How the components look and speak. */
export interface Appearance {
  /** `en`, `de`, or any other with `texts`; default: that of the browser, else English. */
  language?: string;
  /** Texts in place of ours, such as those of another language. */
  texts?: Partial<Texts>;
  /** `auto` follows the system. */
  theme?: 'light' | 'dark' | 'auto';
  direction?: 'ltr' | 'rtl';
  /** The name of the builder's application, where a text names it. */
  appName?: string;
}

export type Translate = (key: TextKey, values?: Readonly<Record<string, string | number>>) => string;

const catalogues: Readonly<Record<string, Texts>> = { en, de };
const TextContext = createContext<Translate>((key) => en[key]);

export function useText(): Translate {
  return useContext(TextContext);
}

function languageOf(asked: string | undefined): string {
  return (asked ?? (typeof navigator === 'undefined' ? 'en' : navigator.language)).slice(0, 2).toLowerCase();
}

/** The first of these languages that there are texts in, else English. */
export const spokenOf = (...asked: readonly string[]): string =>
  asked.map(languageOf).find((one) => Object.hasOwn(catalogues, one)) ?? 'en';

/** The frame around each component: language, direction, theme, and where the focus is. */
export function Root({ children, ...appearance }: Appearance & { children: ReactNode }): ReactNode {
  const { language, texts, theme = 'auto', direction, appName = 'the application' } = appearance;
  const spoken = languageOf(language);
  const translate = useMemo((): Translate => {
    const catalogue = { ...(catalogues[spoken] ?? en), ...texts };
    return (key, values = {}) => {
      const all: Readonly<Record<string, string | number>> = { app: appName, ...values };
      return catalogue[key].replace(/\{(\w+)\}/g, (whole, name: string) => String(all[name] ?? whole));
    };
  }, [spoken, texts, appName]);
  const frame = useRef<HTMLDivElement>(null);
  useKeptFocus(frame);
  const shown = texts === undefined && !(spoken in catalogues) ? 'en' : spoken;
  return (
    <TextContext.Provider value={translate}>
      <div ref={frame} className="svc" lang={shown} dir={direction} data-svc-theme={theme}>
        {children}
      </div>
    </TextContext.Provider>
  );
}
