import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { filtersInTheAddress, idsOfAnotherProject, nonsenseInTheAddress } from './console/addresses.ts';
import { coloursChosen, roleChanged } from './console/choosing.ts';
import { countedByOneFilter, nothingOfAnother } from './console/another.ts';
import { slowWhileBusy } from './console/busy.ts';
import { copiedAsCurl } from './console/copying.ts';
import {
  configRestored,
  customerUnderstood,
  readPaused,
  tokenAndBudgetShown,
  twoChangeOneConfig,
} from './console/customers.ts';
import { lossCounted, operationOutlives, unknownGroupTold } from './console/deleting.ts';
import { waitingSent } from './console/failing.ts';
import { manyByFilters, partlyDoneFound } from './console/filtering.ts';
import { hostileShown } from './console/hostile.ts';
import { hostileTyped } from './console/hostile-typed.ts';
import {
  askedBeforeLeaving,
  daysTogether,
  mappingsTold,
  settingsTogether,
  windowAsks,
} from './console/leaving.ts';
import { auditExported, workAndBudgetsShown } from './console/looking-further.ts';
import { rareFound, scrolledAndWalked, searchedWhileReadAgain } from './console/long-lists.ts';
import {
  attentionAndSearch,
  failedOneRetried,
  inARefusedLanguage,
  manyPagesOneStream,
  manyRetried,
  othersNotFound,
  unknownResolved,
  writeBeforeStream,
  writeSeenLive,
} from './console/operations.ts';
import { statesInSight } from './console/phone.ts';
import {
  auditTellsAllOfIt,
  auditTellsIt,
  deployedFromTheEditor,
  keyMadeAndDeleted,
  openToAll,
} from './console/project.ts';
import { readsLookedAt } from './console/reads.ts';
import { batchResolved } from './console/records.ts';
import {
  deletedUnderOnesFeet,
  membershipRemoved,
  projectRenamed,
  roleLowered,
  roleLoweredUnheard,
} from './console/rights.ts';
import { eachRoleMayItsOwn, supportWithoutSecrets } from './console/roles.ts';
import { hitOfEachType } from './console/searching.ts';
import { deliveryReplayed, destinationMade } from './console/sending.ts';
import {
  againAboveAForm,
  anotherAbove,
  awayWhileIdle,
  inAndOut,
  invitedByALink,
  invitedWithASecondFactor,
  secondFactor,
  serverAway,
  signedInElsewhere,
} from './console/signing-in.ts';
import { asideShown, countedAsListed, nothingCutOff, timesGoOn, whoseItIs } from './console/supporting.ts';
import { readWaits } from './console/waiting.ts';
import { startConsole, type ConsoleWorld, type Walk } from './console/world.ts';

/** In this order: a walk may need what those before it did. */
const walks: readonly [title: string, walk: Walk][] = [
  ['shows a write that happens while somebody looks', writeSeenLive],
  ['shows a write of which its stream does not tell', writeBeforeStream],
  ['keeps eight pages of a browser up to date by one stream', manyPagesOneStream],
  ['lets a failed write be understood and retried', failedOneRetried],
  ['copies what was sent as a command', copiedAsCurl],
  ['lets an unknown outcome be resolved', unknownResolved],
  ['shows what was asked of each record, and resolves a batch by one answer', batchResolved],
  ['draws its charts in a language that the browser does not know', inARefusedLanguage],
  ['says how many operations it retries before it begins', manyRetried],
  ['finds a batch of which one record failed from the overview', partlyDoneFound],
  ['cancels and retries only what the filters show', manyByFilters],
  ['closes the count of one filter when the filter changes', countedByOneFilter],
  ['shows answers that are slower than the changes', slowWhileBusy],
  ['answers alike for what does not exist and what belongs to others', othersNotFound],
  ['leads from a customer to their config and their connection', customerUnderstood],
  ['tells the second of two people what the first changed in a config', twoChangeOneConfig],
  ['shows what is wrong with a config, and restores an earlier one', configRestored],
  ['tells how all customers are read, and leads to a read that is paused', readsLookedAt],
  ['says of a read that it waits for its destination, also in its log', readWaits],
  ['pauses a read and lets it go on', readPaused],
  ['tells how old a token is, and how many calls the provider takes', tokenAndBudgetShown],
  ['leads from a connection and a read to their work, and shows rate budgets', workAndBudgetsShown],
  ['makes a destination, tries it, and shows and rotates its key', destinationMade],
  ['routes events to a destination, and sends deliveries again after a count', deliveryReplayed],
  ['shows nothing of one destination on the page of another', nothingOfAnother],
  ['counts a destination that refuses, and sends what waits there once it is mended', waitingSent],
  ['signs people in and out', inAndOut],
  ['asks for the password again above a form, and keeps what was typed', againAboveAForm],
  ['begins anew for another person who signs in above a form', anotherAbove],
  ['lets somebody in who was invited by a link', invitedByALink],
  [
    'asks somebody who was invited for their second factor, and leads them to the project',
    invitedWithASecondFactor,
  ],
  ['lets somebody in who signs in elsewhere', signedInElsewhere],
  ['asks for a second factor, and ends a session elsewhere', secondFactor],
  ['lets each role do what it may, and says why it may not do the rest', eachRoleMayItsOwn],
  ['lets support retry, and shows it no secret', supportWithoutSecrets],
  ['keeps what was typed by somebody whose role is lowered, and says so', roleLowered],
  ['notices a lowered role when an action is refused', roleLoweredUnheard],
  [
    'keeps what was typed by somebody who is removed from the project, and shows it no longer',
    membershipRemoved,
  ],
  ['goes on under the new name of a project', projectRenamed],
  ['says that what is looked at is deleted', deletedUnderOnesFeet],
  ['says of an operation that its installation is deleted', operationOutlives],
  ['counts the installations that go with an integration before it is deleted', lossCounted],
  ['tells of an unknown group before it is erased', unknownGroupTold],
  ['asks before what was typed is lost, and shows a fault of a config at its field', askedBeforeLeaving],
  ['asks before a window closes on what was typed', windowAsks],
  ['shows the settings that a colleague saves, beside what is typed', settingsTogether],
  ['keeps days that are typed while a colleague saves, and while they are saved', daysTogether],
  ['tells a mapped field that is no pair, or stands twice', mappingsTold],
  ['gives a member another role', roleChanged],
  ['shows the colours that are chosen', coloursChosen],
  ['searches page by page for what is rare, and can be stopped', rareFound],
  ['goes on with a search while what it found so far is read again', searchedWhileReadAgain],
  ['loads more of a list on scrolling, moves by arrow keys, and shows times in UTC', scrolledAndWalked],
  ['finds nothing of another project', idsOfAnotherProject],
  ['keeps filters in the address', filtersInTheAddress],
  ['says what is wrong with an address', nonsenseInTheAddress],
  ['says what needs attention, and finds a group', attentionAndSearch],
  ['leads from a hit of each type to its page', hitOfEachType],
  [
    'marks the faults of a manifest in an editor, deploys it and tells what it changed',
    deployedFromTheEditor,
  ],
  ['shows a key once, and lets nobody in by it once it is deleted', keyMadeAndDeleted],
  ['names in the audit log who did it', auditTellsIt],
  ['lists all that was done in the audit log', auditTellsAllOfIt],
  ['exports the audit log as a file', auditExported],
  ['has no accessibility barrier on the other pages of a project', openToAll],
  ['shows names and records of hostile texts, and runs nothing of them', hostileShown],
  ['takes hostile texts in every field', hostileTyped],
  ['says whose an operation is, and what becomes of writes with dead credentials', whoseItIs],
  ['says of tokens that were set aside that nothing waits for them', asideShown],
  ['updates times while a page is open', timesGoOn],
  ['links each count to a list of the same operations', countedAsListed],
  ['cuts off nothing on a small screen', nothingCutOff],
  ['shows the state of each row on a phone', statesInSight],
  ['says that the server is away, and goes on when it is back', serverAway],
  ['says so without a click, and keeps the document when a page cannot be loaded', awayWhileIdle],
];
const dist = join(import.meta.dirname, '../../ui/console/dist');

describe('test/browser/console', () => {
  let test: TestDatabase;
  let world: ConsoleWorld;
  beforeAll(async () => {
    test = await createTestDatabase();
    world = await startConsole(test.url);
  }, 180_000);
  afterAll(async () => {
    await world?.close();
    await test?.drop();
  });

  it.each(walks)('%s', { timeout: 60_000 }, async (_, walk) => {
    try {
      await walk(world);
    } finally {
      await world.leave();
    }
    expect(world.faults.splice(0)).toEqual([]);
  });

  it('answers an unknown path to a program with a problem, and to a browser with a page', async () => {
    const ask = (path: string, accept: string) =>
      fetch(world.platform.base + path, {
        headers: { accept, 'accept-encoding': 'gzip, br' },
        redirect: 'manual',
      });
    const program = await ask('/projects/default/operations', 'application/json');
    expect([program.status, program.headers.get('content-type')]).toEqual([
      404,
      'application/problem+json; charset=utf-8',
    ]);
    const lost = await ask('/no/such/page', 'text/html,*/*');
    expect([lost.status, lost.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    const page = await ask('/projects/default/operations', 'text/html,*/*');
    expect(page.status).toBe(200);
    expect(page.headers.get('cache-control')).toBe('no-cache');
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self'; style-src 'self'");
    expect(page.headers.get('content-security-policy')).not.toContain('unsafe');
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    for (const shown of [page, lost])
      expect(Object.fromEntries(shown.headers)).toMatchObject({
        'cross-origin-opener-policy': 'same-origin',
        'permissions-policy': expect.stringContaining('camera=()') as string,
        'referrer-policy': 'same-origin',
        'x-content-type-options': 'nosniff',
      });
    const [asset = ''] = /\/assets\/[^"]+\.js/.exec(await page.text()) ?? [];
    const script = await ask(asset, '*/*');
    expect(script.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(script.headers.get('content-encoding')).toBe('br');
    expect((await ask('/v1/no-such-route', 'application/json')).status).toBe(404);
    expect((await ask('/docs', 'text/html')).status).not.toBe(404);
  });

  it('loads at most 200 KB before the first page', async () => {
    const index = await readFile(join(dist, 'index.html'), 'utf8');
    const names = (await readdir(join(dist, 'assets'))).filter((name) => index.includes(name));
    expect(names.some((name) => name.endsWith('.js'))).toBe(true);
    const sizes = await Promise.all(
      names.map(async (name) => gzipSync(await readFile(join(dist, 'assets', name))).length),
    );
    expect(sizes.reduce((sum, size) => sum + size, gzipSync(index).length)).toBeLessThan(200_000);
  });
});
