import { sendHttp, type HttpAnswer } from '../../kit/http/client.ts';
import { hidden } from '../hidden.ts';
import { refusedBy, unanswered } from '../http-outcome.ts';
import type { DeclaredKind, Delivered, DestinationKind } from '../kind.ts';
import { checkSlack } from './check.ts';
import { SlackMetadata, SlackSecrets } from './schema.ts';
import { textOf } from './text.ts';

interface SlackOptions {
  /** For one attempt in total. */
  timeoutMs?: number;
}

const answerBytes = 4_096;
const restMs = 1_000;
const shape = { type: 'slack', metadata: SlackMetadata, secrets: SlackSecrets };

export const slack: DeclaredKind = {
  ...shape,
  create: () => createSlack(),
  // Who has the address writes into the channel.
  withoutSecrets: (metadata) => ({
    ...metadata,
    url: `${new URL(String(metadata['url'])).origin}/${hidden}`,
  }),
};

/** Tells people of each message in a channel of Slack. */
export function createSlack({ timeoutMs = 15_000 }: SlackOptions = {}): DestinationKind<SlackMetadata> {
  return {
    ...shape,
    connectsEach: true,
    check: checkSlack,
    // Slack limits each webhook by itself, and a channel that is gone says nothing of the others.
    shareOf: ({ url }) => url,
    async deliver(message, { metadata }, { ground, signal, mayStillSend }) {
      const text = textOf(message, (await message.body()).toString('utf8'));
      const result = await sendHttp(
        ground.egress,
        {
          method: 'POST',
          url: metadata.url,
          headers: {
            'user-agent': 'svc',
            'content-type': 'application/json',
            'webhook-id': message.id,
          },
          body: JSON.stringify({ text, unfurl_links: false, unfurl_media: false }),
        },
        {
          timeoutMs,
          signal,
          maySend: mayStillSend,
          beginning: { bytes: answerBytes, withinMs: restMs },
        },
      );
      return 'answer' in result
        ? judge(result.answer)
        : unanswered(result.fault, { who: 'Slack', timeoutMs, slow: 'It is tried again.' });
    },
  };
}

function judge(answer: HttpAnswer): Delivered {
  const { status, body } = answer;
  // A page that stands in the way answers 200, too; Slack says `ok`.
  if (status === 200 && body.trim() === 'ok') return { kind: 'delivered', status, answer: body };
  if (status >= 200 && status < 300) return refusedBy(answer, notSlack);
  return refusedBy(answer, errorOf(status, body.trim()));
}

const notSlack =
  'What answered is not Slack, which says ok: give metadata.url the address that Slack shows for the incoming webhook.';

/** By what Slack says, and else by the status. */
const remedies: Record<string, string> = {
  invalid_token: 'make the incoming webhook anew, and change metadata.url',
  no_service: 'the webhook was removed or switched off: make it anew, and change metadata.url',
  no_team: 'the workspace is gone: give metadata.url a webhook of another one',
  team_disabled: 'the workspace is switched off: have it switched on, or change metadata.url',
  channel_not_found: 'the channel is gone: make a webhook for another one, and change metadata.url',
  channel_is_archived:
    'the channel is archived: bring it back, or make a webhook for another one and change metadata.url',
  action_prohibited: 'an administrator of the workspace forbids it: have it allowed',
  posting_to_general_channel_denied:
    'only some may post to the general channel: make a webhook for another one, and change metadata.url',
};

function errorOf(status: number, said: string): string {
  if (status >= 300 && status < 400)
    return `What answered ${status} is not Slack, and redirects are not followed: give metadata.url the address that Slack shows for the incoming webhook.`;
  const remedy = remedies[said];
  if (remedy !== undefined) return `Slack answered ${status} ${said}: ${remedy}.`;
  if (status === 429)
    return 'Slack answered 429: more came than it takes. It is tried again when Slack wants it.';
  if (status === 404 || status === 410)
    return `Slack answered ${status}: the webhook is gone. Make it anew, and change metadata.url.`;
  return `Slack answered ${status}. It is tried again; if that goes on, make the incoming webhook anew.`;
}
