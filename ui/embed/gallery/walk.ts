/** What a person does until a state is there. */
export interface Walk {
  /** The first one, or the first one with this text. */
  click(selector: string, text?: string): Promise<void>;
  type(selector: string, text: string): Promise<void>;
  see(selector: string, text?: string): Promise<Element>;
}

const patienceMs = 5_000;
const drawnMs = 100;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export const walk: Walk = {
  async click(selector, text) {
    ((await walk.see(selector, text)) as HTMLElement).click();
    // A step that opens takes the focus a moment later.
    await pause(drawnMs);
  },
  async type(selector, text) {
    const input = (await walk.see(selector)) as HTMLInputElement;
    input.focus();
    // As a browser does: React listens to the event, and looks at the value behind its own.
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(input, text);
    input.dispatchEvent(new Event('input', { bubbles: true }));
  },
  async see(selector, text = '') {
    for (const until = performance.now() + patienceMs; performance.now() < until;) {
      const all = [...document.querySelectorAll(`.stage ${selector}`)];
      const found = all.find(({ textContent }) => textContent.includes(text));
      if (found) return found;
      await pause(20);
    }
    throw new Error(`the state has no ${selector}`);
  },
};
