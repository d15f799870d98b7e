/** So long after the last key, click or turn of the wheel, what the page asks for is asked by itself. */
const attendedMs = 60_000;

let lastAt = performance.now();
for (const type of ['pointerdown', 'keydown', 'wheel', 'touchmove'])
  addEventListener(type, () => (lastAt = performance.now()), { passive: true, capture: true });

/** Whether somebody is at the page. Otherwise a page that reads again what changes would keep its session for ever. */
export const isAttended = (): boolean => performance.now() - lastAt < attendedMs;
