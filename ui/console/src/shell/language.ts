/**
 * A browser may name a language that `Intl` refuses, as `en-US@posix`, and uPlot asks `Intl` for whatever the browser names. Then
 * the language that `Intl` itself chose takes its place.
 */
try {
  Intl.NumberFormat(navigator.language);
} catch {
  const { locale } = new Intl.NumberFormat().resolvedOptions();
  Object.defineProperty(navigator, 'language', { value: locale, configurable: true });
}
