import { anotherAccount, refusedAccount } from './accounts.ts';
import {
  connectionDied,
  fieldGoneMeanwhile,
  fieldVanished,
  manifestChanged,
  offeredBroken,
  providerDown,
  requiredMeanwhile,
  signedOut,
  slowNetwork,
} from './bad-input.ts';
import { colleagueReconnects, fieldsAskedAgain } from './colleague.ts';
import { answerLost, installedElsewhere, uninstalledElsewhere, unknownAtFirst } from './elsewhere.ts';
import { exampleOfUnknown, examplesShown } from './examples.ts';
import { focusKept } from './focus.ts';
import { anotherCustomer, deadOnArrival, disconnectAsks } from './health.ts';
import { historyChosen } from './history.ts';
import { everyKindTyped } from './kinds.ts';
import { pausedAtOnce } from './pause.ts';
import { draftOverRedirect } from './left.ts';
import { objectGone, objectLoadedLater } from './part.ts';
import { ruleForField } from './rules.ts';
import { objectDeclined } from './shared.ts';
import { draftOfHooks, fieldsOfInstalled, givenNothing, sentWhileLoading, setAndSaved } from './hooks.ts';
import {
  hostedInFrame,
  onlyItsOwnWindow,
  openerCut,
  originNotListed,
  returnOfItsOwn,
  returnRelative,
  twoOnOnePage,
} from './sign-in.ts';
import {
  hooksUnconnected,
  hostStyles,
  linkEnded,
  linkEndedInForm,
  linkSpeaks,
  linkUnanswered,
  noToken,
  onlyProxy,
  pickedByKeys,
  propMistyped,
} from './small.ts';
import type { Walk } from './steps.ts';
import { choiceUnoffered } from './unoffered.ts';
import { valueVanished } from './values.ts';
import { askedTwice, changedMeanwhile, sameChange, saveLost } from './together.ts';

/** Every walk, by what it shows. */
export const walks: readonly [title: string, walk: Walk][] = [
  [
    'shows one record as it is delivered and one write as it is sent, before anything is saved',
    examplesShown,
  ],
  ['says that no field is known of an object that is only written', exampleOfUnknown],
  ['lets the customer choose how much of what exists is read at first', historyChosen],
  ['connects with every kind of credentials that is typed', everyKindTyped],
  ['tells that the builder asks for more, and keeps what was typed', manifestChanged],
  ['tells what is required all at once, and keeps what was typed', requiredMeanwhile],
  ['connects again in the middle of a form, and goes on with it', connectionDied],
  ['says that the provider is down while fields are loaded', providerDown],
  ['reads an object whose fields are loaded later: on request, on focus or on return', objectLoadedLater],
  ['leaves out what the manifest drops while it is set up', objectGone],
  ['says that a request takes long', slowNetwork],
  ['says that the session is over, and goes on after the next sign-in', signedOut],
  ['leaves out what is offered and is no mapping', offeredBroken],
  ['names a field that is not there any more', fieldVanished],
  ['names a field that goes while the form is open', fieldGoneMeanwhile],
  ['shows a value that is not there any more, and forgets one that the builder renamed', valueVanished],
  ['lists fields that are read and no longer offered, so that they can be left out', choiceUnoffered],
  ['puts a write rule on the field that was chosen', ruleForField],
  ['knows its own installation where the answer was lost', answerLost],
  ['asks whose settings hold where somebody else installed', installedElsewhere],
  ['installs with what was entered where somebody else uninstalled', uninstalledElsewhere],
  ['does not take for absent what could not be loaded', unknownAtFirst],
  ['pauses at once, and keeps what else was edited', pausedAtOnce],
  ['keeps nothing of what is declined, and says what is read and written all the same', objectDeclined],
  ['keeps what is changed while it saves', changedMeanwhile],
  ['shows what is saved where two made the same change', sameChange],
  ['knows its own settings where the answer was lost', saveLost],
  ['keeps both answers where it asks twice whose settings hold', askedTwice],
  ['sends a draft of hooks with the config that it was made from', draftOfHooks],
  ['saves by hooks what was set in the same handler', setAndSaved],
  ['sends by hooks while the page loads', sentWhileLoading],
  ['tells hooks the fields of the account that it is installed on', fieldsOfInstalled],
  ['keeps what was entered while the page is left for the provider', draftOverRedirect],
  ['names the account, and takes another one in a window', anotherAccount('popup')],
  ['names the account, and takes another one in place of the page', anotherAccount('redirect')],
  ['leaves no connection of an account that was refused', refusedAccount],
  ['listens to its own window only', onlyItsOwnWindow],
  ['connects where the page may not see its windows', openerCut],
  ['connects two integrations on one page at the same time', twoOnOnePage],
  ['takes from the address what its own sign-in brought back', returnOfItsOwn],
  ['comes back to a relative address, and tells one that is none', returnRelative],
  ['connects in a window where the page of a link stands in a frame', hostedInFrame],
  ['is refused on a page that is not listed', originNotListed],
  ['offers to connect again once the access was taken back', deadOnArrival],
  ['shows nothing of one customer to another', anotherCustomer],
  ['asks before it disconnects', disconnectAsks],
  ['lets a colleague reconnect what another set up', colleagueReconnects],
  ['asks again for what could not be loaded', fieldsAskedAgain],
  ['is filled in by keys alone, and skips no required field', pickedByKeys],
  ['keeps the focus of whoever uses keys', focusKept],
  ['keeps its styles in a page that styles headings and labels', hostStyles],
  ['says that a link cannot be opened now, and opens it on request', linkUnanswered],
  ['speaks the language that a link asks for, or that of the browser', linkSpeaks],
  ['says that the link ended while its page was open', linkEnded],
  ['says that the link ended while its form was filled in', linkEndedInForm],
  ['says why there is no token', noToken],
  ['says which prop is mistyped', propMistyped],
  ['has an error where hooks are given nothing', givenNothing],
  ['tells hooks that there is no account yet', hooksUnconnected],
  ['has nothing to choose where only the provider is called', onlyProxy],
];
