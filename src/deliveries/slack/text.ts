import { sentenceOf } from '../../events/index.ts';
import type { OutgoingMessage } from '../kind.ts';

/** Slack cuts a text off behind some 16,000 characters without a word. */
const mostShown = 8_000;

/** What stands in the channel: a sentence, and below it the message as JSON. */
export function textOf(message: Told, body: string): string {
  const shown = body.length > mostShown ? `${body.slice(0, mostShown).toWellFormed()} …` : body;
  return `${escaped(withoutFence(inWords(message, body)))}\n\`\`\`${escaped(withoutFence(shown))}\`\`\``;
}

type Told = Pick<OutgoingMessage, 'records' | 'object' | 'groupRef' | 'replay' | 'notificationType'>;

function inWords({ records, object, groupRef, replay, notificationType }: Told, body: string): string {
  const again = replay ? ' (sent again)' : '';
  if (notificationType !== undefined) {
    const { data } = JSON.parse(body) as { data: unknown };
    return `:bell: ${sentenceOf(notificationType, data)}${again}`;
  }
  if (records === 0) return ':wave: What is sent to this destination arrives here.';
  const what = records === 1 ? '1 record' : `${records} records`;
  return `:package: ${what} of ${object} for ${groupRef}.${again}`;
}

/** The three characters that Slack gives a meaning, wherever they stand. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** A zero-width space keeps a text of the message from ending the block. */
function withoutFence(text: string): string {
  return text.replaceAll('```', '`\u200B`\u200B`');
}
