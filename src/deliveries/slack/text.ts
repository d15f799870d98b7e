import type { OutgoingMessage } from '../kind.ts';

/** Slack cuts a text off behind some 16,000 characters without a word. */
const mostShown = 8_000;

/** What stands in the channel: a sentence, and below it the message as JSON. */
export function textOf(message: Told, body: string): string {
  const shown = body.length > mostShown ? `${body.slice(0, mostShown).toWellFormed()} …` : body;
  return `${escaped(sentenceOf(message))}\n\`\`\`${escaped(withoutFence(shown))}\`\`\``;
}

type Told = Pick<OutgoingMessage, 'records' | 'object' | 'groupRef' | 'replay'>;

function sentenceOf({ records, object, groupRef, replay }: Told): string {
  if (records === 0) return ':wave: What is sent to this destination arrives here.';
  const what = records === 1 ? '1 record' : `${records} records`;
  const again = replay ? ', sent again' : '';
  return `:package: ${what} of ${object} for ${groupRef}${again}.`;
}

/** The three characters that Slack gives a meaning, wherever they stand. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** A zero-width space keeps a text of the message from ending the block. */
function withoutFence(text: string): string {
  return text.replaceAll('```', '`\u200B`\u200B`');
}
