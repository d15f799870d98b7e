/** How a flow looks to the person who went through it. */
export type PageKind =
  | 'connected'
  | 'denied'
  | 'failed'
  | 'unsure'
  | 'otherAccount'
  | 'used'
  | 'expired'
  | 'unknown'
  | 'takenBack'
  | 'otherBrowser';

export interface PageTexts {
  title: string;
  text: string;
  close: string;
  back: string;
  details: string;
  reference: string;
}

type Catalogue = Omit<PageTexts, 'title' | 'text'> & Record<PageKind, readonly [title: string, text: string]>;

const en: Catalogue = {
  connected: ['Connected', '{provider} is connected to {app}.'],
  denied: ['Not connected', '{app} was not given access to {provider}. Nothing was changed.'],
  failed: [
    'Not connected',
    '{provider} could not be connected to {app}. Nothing was changed. Please try again; if that does not help, ask {app}.',
  ],
  unsure: [
    'It is not known whether this was connected',
    'It may be that {provider} is connected to {app} now. Look there in a minute, before you begin again.',
  ],
  otherAccount: [
    'Not connected',
    'You signed in to another account of {provider} than the one that is connected to {app}. Nothing was changed. Begin again in {app}, and sign in to that one.',
  ],
  used: [
    'This link was used already',
    'A link connects an account once. See in {app} whether it is connected, or begin again there.',
  ],
  expired: ['This link has expired', 'A link holds for ten minutes. Begin again in {app}.'],
  unknown: [
    'This link does not hold any more',
    'It was used, has expired, or is not whole. Begin again where you found it.',
  ],
  takenBack: [
    'This link was taken back',
    'Nothing was changed. Begin again in {app}, or ask there for another link.',
  ],
  otherBrowser: [
    'This began in another browser',
    'Go on in the browser that opened the link first, or ask for a new link.',
  ],
  close: 'You can close this window.',
  back: 'Back to {app}',
  details: 'Details for support',
  reference: 'Reference: {requestId}',
};

const de: Catalogue = {
  connected: ['Verbunden', '{provider} ist mit {app} verbunden.'],
  denied: ['Nicht verbunden', '{app} hat keinen Zugriff auf {provider} bekommen. Es wurde nichts geändert.'],
  failed: [
    'Nicht verbunden',
    '{provider} konnte nicht mit {app} verbunden werden. Es wurde nichts geändert. Bitte versuchen Sie es noch einmal; hilft das nicht, fragen Sie bei {app} nach.',
  ],
  unsure: [
    'Ob verbunden wurde, ist nicht bekannt',
    'Vielleicht ist {provider} jetzt mit {app} verbunden. Sehen Sie dort in einer Minute nach, bevor Sie von vorn beginnen.',
  ],
  otherAccount: [
    'Nicht verbunden',
    'Sie haben sich bei einem anderen Konto von {provider} angemeldet als dem, das mit {app} verbunden ist. Es wurde nichts geändert. Beginnen Sie in {app} von vorn, und melden Sie sich bei jenem an.',
  ],
  used: [
    'Dieser Link wurde schon verwendet',
    'Ein Link verbindet ein Konto einmal. Sehen Sie in {app} nach, ob es verbunden ist, oder beginnen Sie dort von vorn.',
  ],
  expired: ['Dieser Link ist abgelaufen', 'Ein Link gilt zehn Minuten. Beginnen Sie in {app} von vorn.'],
  unknown: [
    'Dieser Link gilt nicht mehr',
    'Er wurde verwendet, ist abgelaufen oder nicht vollständig. Beginnen Sie dort von vorn, wo Sie ihn gefunden haben.',
  ],
  takenBack: [
    'Dieser Link wurde zurückgezogen',
    'Es wurde nichts geändert. Beginnen Sie in {app} von vorn, oder lassen Sie sich dort einen neuen Link geben.',
  ],
  otherBrowser: [
    'Begonnen wurde in einem anderen Browser',
    'Machen Sie in dem Browser weiter, der den Link zuerst geöffnet hat, oder lassen Sie sich einen neuen geben.',
  ],
  close: 'Sie können dieses Fenster schließen.',
  back: 'Zurück zu {app}',
  details: 'Einzelheiten für den Support',
  reference: 'Kennung: {requestId}',
};

const catalogues: Readonly<Record<string, Catalogue>> = { en, de };

/** The language of ours that the browser likes best (RFC 9110, 12.5.4), English when it likes none. */
export function languageOf(accepted: string | undefined): string {
  const liked = (accepted ?? '').split(',').map((part) => {
    const [tag = '', ...params] = part.trim().toLowerCase().split(';');
    const weight = params.map((param) => /^\s*q=([\d.]+)$/.exec(param)?.[1]).find(Boolean);
    return { language: tag.split('-', 1)[0] ?? '', weight: Number(weight ?? 1) };
  });
  const ours = liked.filter(({ language, weight }) => weight > 0 && Object.hasOwn(catalogues, language));
  return ours.toSorted((a, b) => b.weight - a.weight)[0]?.language ?? 'en';
}

/** The words of a page; names in them are put in as they are. */
export function pageTexts(
  language: string,
  kind: PageKind,
  names: Readonly<Record<'app' | 'provider' | 'requestId', string>>,
): PageTexts {
  const catalogue = catalogues[language] ?? en;
  const said = (text: string): string =>
    text.replaceAll(/\{(app|provider|requestId)\}/g, (_whole, name: keyof typeof names) => names[name]);
  const [title, text] = catalogue[kind];
  const { close, back, details, reference } = catalogue;
  return {
    title,
    text: said(text),
    close,
    back: said(back),
    details,
    reference: said(reference),
  };
}
