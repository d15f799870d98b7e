import { useEffect, type RefObject } from 'react';

/** Where something begins that a person has not read yet: a title, else what it says. */
const beginnings = ['h1, h2, h3', '.svc-summary, .svc-notice'];

/** Whoever uses keys goes on where they were: what takes the place of an element that had the focus gets it, at its beginning. */
export function useKeptFocus(frame: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const root = frame.current;
    if (!root) return undefined;
    let last: Element | undefined;
    const note = ({ target }: FocusEvent): void => {
      last = target instanceof Element && root.contains(target) ? target : undefined;
    };
    // Whoever points elsewhere looks there.
    const leave = ({ target }: PointerEvent): void => {
      if (!last?.contains(target as Node)) last = undefined;
    };
    const observer = new MutationObserver((changes) => {
      if (!last || !isLost(last)) return;
      const begin = beginningIn(placeOf(last, changes) ?? root) ?? beginningIn(root);
      // What is still on its way has none.
      if (!begin) return;
      begin.tabIndex = -1;
      begin.focus({ preventScroll: true });
    });
    observer.observe(root, { childList: true, subtree: true, attributeFilter: ['hidden'] });
    document.addEventListener('focusin', note);
    document.addEventListener('pointerdown', leave, true);
    return () => {
      observer.disconnect();
      document.removeEventListener('focusin', note);
      document.removeEventListener('pointerdown', leave, true);
    };
  }, [frame]);
}

/** Whether an element is gone or hidden, and nothing else has the focus. */
function isLost(last: Element): boolean {
  const isGone = !last.isConnected || last.closest('[hidden]') !== null;
  return isGone && (document.activeElement === document.body || document.activeElement === last);
}

/** The part of the page that an element was taken out of. */
function placeOf(last: Element, changes: readonly MutationRecord[]): Element | undefined {
  const change = changes.find(({ removedNodes }) => [...removedNodes].some((node) => node.contains(last)));
  const from = change?.target;
  return from instanceof Element && from.isConnected ? (from.closest('section') ?? undefined) : undefined;
}

function beginningIn(place: Element): HTMLElement | undefined {
  const found = beginnings.map((names) => Array.from(place.querySelectorAll<HTMLElement>(names)));
  return found.flat().find((element) => element.getClientRects().length > 0);
}
