import { Type, type Static } from 'typebox';
import { optionalBody } from '../kit/optional-body-schema.ts';
import { shownName } from '../kit/reference-schema.ts';
import { Scope } from '../projects/schema.ts';

const closed = { additionalProperties: false } as const;
const time = (description: string) => Type.String({ format: 'date-time', description });

export const roles = ['owner', 'developer', 'support', 'viewer'] as const;

/** What a person may do in a project (docs/guides/people.md). */
export const Role = Type.Enum([...roles], {
  title: 'Role',
  description:
    '`owner`: everything; `developer`: everything but people, exports and keys of scope `full`; `support`: sees and mends, without secrets; `viewer`: sees.',
});
export type Role = (typeof roles)[number];

/** Kept in lower case. */
export const Email = Type.String({
  maxLength: 254,
  pattern: '^[^\\s@\\u0000-\\u001f\\u007f]+@[^\\s@\\u0000-\\u001f\\u007f]+$',
  description: 'Letters count the same in upper and lower case.',
});

export const leastPassword = 12;
export const mostPassword = 256;
/** Whatever was typed when signing in: its length tells nothing but that it is wrong. */
const TypedPassword = Type.String({ minLength: 1, maxLength: 4 * mostPassword });
const NewPassword = Type.String({
  minLength: leastPassword,
  maxLength: mostPassword,
  description: 'Neither the e-mail address nor the name of a project of theirs.',
});
const PersonName = shownName(128);

export const Person = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    email: Email,
    name: Type.Optional(Type.String()),
    operator: Type.Boolean({ description: 'Reaches what the scope `operator` does: makes projects.' }),
    secondFactor: Type.Boolean({ description: 'Whether signing in asks for a second factor.' }),
    hasPassword: Type.Boolean({ description: 'Without one they sign in elsewhere.' }),
  },
  { ...closed, title: 'Person' },
);
export type Person = Static<typeof Person>;

export const Membership = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'Of the project.' }),
    name: Type.String(),
    appName: Type.String(),
    role: Role,
    scopes: Type.Array(Scope, { description: 'What the role reaches, as with a key of these scopes.' }),
  },
  { ...closed, title: 'Membership' },
);
export type Membership = Static<typeof Membership>;

/** Who is signed in, and what they may do. */
export const SignedIn = Type.Object(
  {
    state: Type.Literal('signedIn'),
    person: Person,
    projects: Type.Array(Membership),
    sessionId: Type.String({ format: 'uuid' }),
    expiresAt: time('When the session ends at the latest; after hours of rest it ends before.'),
  },
  { ...closed, title: 'SignedIn' },
);
export type SignedIn = Static<typeof SignedIn>;

export const SecondFactorAsked = Type.Object(
  { state: Type.Literal('secondFactor') },
  {
    ...closed,
    title: 'SecondFactorAsked',
    description: 'The password was right; `POST /v1/session:verify` takes the code.',
  },
);

export const SignInAnswer = Type.Union([SignedIn, SecondFactorAsked]);
export type SignInAnswer = Static<typeof SignInAnswer>;

export const SignInRequest = Type.Object(
  { email: Email, password: TypedPassword },
  { ...closed, title: 'SignInRequest' },
);
export type SignInRequest = Static<typeof SignInRequest>;

/** How one may sign in here. */
export const SignInOptions = Type.Object(
  {
    oidc: Type.Optional(
      Type.Object(
        {
          name: Type.String({ description: 'For the button.' }),
          startUrl: Type.String({
            description: 'Where the browser goes; `?returnTo=/path` leads back to a path.',
          }),
        },
        closed,
      ),
    ),
    hasPeople: Type.Boolean({
      description: 'False until the first user came by the link of the first start.',
    }),
  },
  { ...closed, title: 'SignInOptions' },
);
export type SignInOptions = Static<typeof SignInOptions>;

const InvitationToken = Type.String({
  minLength: 20,
  maxLength: 100,
  description: 'What stands behind `#token=` in the link.',
});

export const LookAtInvitationRequest = Type.Object(
  { token: InvitationToken },
  { ...closed, title: 'LookAtInvitationRequest' },
);

/** What a link is for, before it is accepted. */
export const InvitationLook = Type.Object(
  {
    kind: Type.Enum(['welcome', 'invitation', 'reset'], {
      description:
        '`welcome`: the first owner; `invitation`: to a project; `reset`: a new password, and no second factor until one is set up.',
    }),
    email: Type.Optional(Type.String({ description: 'Whose the link is; absent: who opens it says.' })),
    role: Type.Optional(Role),
    project: Type.Optional(Type.Object({ name: Type.String(), appName: Type.String() }, closed)),
    isKnown: Type.Boolean({
      description:
        'That person has an account: they accept with their password, or while signed in with none.',
    }),
    expiresAt: time('Until when it holds.'),
  },
  { ...closed, title: 'InvitationLook' },
);
export type InvitationLook = Static<typeof InvitationLook>;

export const AcceptInvitationRequest = Type.Object(
  {
    token: InvitationToken,
    email: Type.Optional(Email),
    name: Type.Optional(PersonName),
    password: Type.Optional(TypedPassword),
  },
  {
    ...closed,
    title: 'AcceptInvitationRequest',
    description:
      '`email` where the link names none. `password`: the one that is to be set, or the one of the account that exists.',
  },
);
export type AcceptInvitationRequest = Static<typeof AcceptInvitationRequest>;

export const Invitation = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    email: Type.String(),
    role: Role,
    invitedBy: Type.Optional(Type.String({ description: 'The e-mail address of who invited.' })),
    url: Type.Optional(
      Type.String({ description: 'The link; shown once, when it is made. Send it to nobody else.' }),
    ),
    expiresAt: time('Until when it can be accepted.'),
    createTime: time('When it was made.'),
  },
  { ...closed, title: 'Invitation' },
);
export type Invitation = Static<typeof Invitation>;

export const InvitationRequest = Type.Object(
  { email: Email, role: Role },
  { ...closed, title: 'CreateInvitationRequest' },
);
export type InvitationRequest = Static<typeof InvitationRequest>;

export const Member = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'Of the person.' }),
    email: Type.String(),
    name: Type.Optional(Type.String()),
    role: Role,
    secondFactor: Type.Boolean(),
    lastSeenAt: Type.Optional(time('When they did something last, to the minute.')),
    createTime: time('When they became a member.'),
    updateTime: time('When their role was changed last.'),
  },
  { ...closed, title: 'Member' },
);
export type Member = Static<typeof Member>;

export const MemberUpdate = Type.Object({ role: Role }, { ...closed, title: 'UpdateMemberRequest' });

export const Session = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    isCurrent: Type.Boolean({ description: 'Whether it is the one of this browser.' }),
    address: Type.Optional(Type.String({ description: 'From where it was opened.' })),
    userAgent: Type.Optional(Type.String({ description: 'What the browser called itself.' })),
    lastSeenAt: time('When it was used last, to the minute.'),
    createTime: time('When it was opened.'),
    expiresAt: time('When it ends at the latest.'),
  },
  { ...closed, title: 'Session' },
);
export type Session = Static<typeof Session>;

export const PersonUpdate = Type.Object(
  // Not a union: what is wrong with a text is told as such.
  {
    name: Type.Unsafe<string | null>({ ...PersonName, type: ['string', 'null'], description: 'null: none.' }),
  },
  { ...closed, title: 'UpdatePersonRequest' },
);

export const PasswordChange = Type.Object(
  {
    currentPassword: Type.Optional(TypedPassword),
    newPassword: NewPassword,
  },
  {
    ...closed,
    title: 'ChangePasswordRequest',
    description: '`currentPassword` is left out by who has none.',
  },
);
export type PasswordChange = Static<typeof PasswordChange>;

/** To be typed or scanned into an app that makes codes. */
export const NewSecondFactor = Type.Object(
  {
    secret: Type.String({ description: 'In base32, to be typed.' }),
    uri: Type.String({ description: 'The same as `otpauth:` URI, to be shown as a QR code.' }),
  },
  { ...closed, title: 'NewSecondFactor' },
);
export type NewSecondFactor = Static<typeof NewSecondFactor>;

const Code = Type.String({ pattern: '^[0-9]{6}$', description: 'What the app shows.' });
const RecoveryCode = Type.String({
  minLength: 8,
  maxLength: 40,
  description: 'One of the ten; each holds once.',
});

export const SecondFactorCode = Type.Object(
  { code: Code },
  { ...closed, title: 'ConfirmSecondFactorRequest' },
);

export const RecoveryCodes = Type.Object(
  { recoveryCodes: Type.Array(Type.String(), { description: 'Shown once; each stands for one code.' }) },
  { ...closed, title: 'RecoveryCodes' },
);

export const VerifyRequest = Type.Object(
  { code: Type.Optional(Code), recoveryCode: Type.Optional(RecoveryCode) },
  { ...closed, title: 'VerifySecondFactorRequest', description: 'One of both.' },
);
export type VerifyRequest = Static<typeof VerifyRequest>;

const proof = { password: Type.Optional(TypedPassword) };
export const BeginSecondFactorRequest = optionalBody(Type.Object(proof, closed), 'BeginSecondFactorRequest');
export const ProvePassword = Type.Object(proof, {
  ...closed,
  title: 'RemoveSecondFactorRequest',
  description: '`password` is left out by who has none.',
});
