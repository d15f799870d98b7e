// Loaded before a node starts: its clock is ahead by SKEW_MS.
const ahead = Number(process.env.SKEW_MS ?? 0);
const Real = globalThis.Date;

globalThis.Date = class extends Real {
  constructor(...given) {
    super(...(given.length === 0 ? [Real.now() + ahead] : given));
  }

  static now() {
    return Real.now() + ahead;
  }
};
