/** Texts that harm who shows, runs or unfolds them. What one of them runs sets `window.executed`. */
const executed = 'window.executed=1';
const harmful = [
  `<script>${executed}</script>`,
  `"><script>${executed}</script>`,
  `'><img src=x onerror="${executed}">`,
  `<svg onload=${executed}>`,
  `<iframe srcdoc="<script>parent.${executed}</script>">`,
  `javascript:${executed}`,
  `<a href="javascript:${executed}">x</a>`,
  `\u2028<style>*{background:url("javascript:${executed}")}</style>`,
  `{{constructor.constructor('${executed}')()}}`,
  `\${${executed}}`,
  `<math><mtext></p><script>${executed}</script>`,
  `<details open ontoggle=${executed}>`,
  `<input autofocus onfocus=${executed}>`,
  '__proto__',
  'constructor',
  'toString',
  '{count} {app} {field}',
  "'; DROP TABLE contact; --",
  '\u202Etxet desrever',
  'Ж'.repeat(120),
  '👩‍👩‍👧‍👦 family',
  'ﷺ',
  'Z\u0351\u036B\u0343a\u0360l\u0321g\u035Co',
  '\t tab and  spaces ',
  '../../etc/passwd%00',
];
/** Each as it is, and in what may be around it: 500 different texts. */
export const hostile: readonly string[] = Array.from({ length: 20 }, (_each, round) =>
  harmful.map((text) => (round === 0 ? text : `${round} ${'<b title="'.repeat(round % 4)}${text}`)),
).flat();
