import { at, made, projectId } from './api-story.ts';

/** Examples of people and what they may do, by the name of their schema. */

const email = 'ada@mailmonkey.example.com';
const token = 'b64cFq0mS1N8c2p1Jd7wq2l0rT4uYx9vK3nP8sLq0wZ';
const expiresAt = '2026-03-02T09:00:00.000Z';
const Person = {
  id: '0192f0c1-0010-7000-8000-000000000010',
  email,
  name: 'Ada Lovelace',
  operator: false,
  secondFactor: true,
  hasPassword: true,
};
const Membership = {
  id: projectId,
  name: 'mailmonkey',
  appName: 'MailMonkey',
  role: 'support',
  scopes: ['view', 'remediate'],
};
const SignedIn = {
  state: 'signedIn',
  person: Person,
  projects: [Membership],
  sessionId: '0192f0c1-0011-7000-8000-000000000011',
  expiresAt,
};

const Invitation = {
  id: '0192f0c1-0012-7000-8000-000000000012',
  email,
  role: 'support',
  invitedBy: 'grace@mailmonkey.example.com',
  expiresAt,
  createTime: at,
};
const Member = { id: Person.id, email, name: Person.name, role: 'support', secondFactor: true, ...made };
const Session = {
  id: SignedIn.sessionId,
  isCurrent: true,
  address: '192.0.2.1',
  userAgent: 'Mozilla/5.0',
  lastSeenAt: at,
  createTime: at,
  expiresAt,
};

export const peopleExamples = {
  Person,
  Membership,
  SignedIn,
  SecondFactorAsked: { state: 'secondFactor' },
  SignInRequest: { email, password: 'correct horse battery staple' },
  SignInOptions: { hasPeople: true },
  LookAtInvitationRequest: { token },
  InvitationLook: {
    kind: 'invitation',
    email,
    role: 'support',
    project: { name: 'mailmonkey', appName: 'MailMonkey' },
    isKnown: false,
    expiresAt,
  },
  AcceptInvitationRequest: { token, name: 'Ada Lovelace', password: 'correct horse battery staple' },
  Invitation,
  CreateInvitationRequest: { email, role: 'support' },
  Member,
  UpdateMemberRequest: { role: 'developer' },
  Session,
  UpdatePersonRequest: { name: 'Ada Lovelace' },
  ChangePasswordRequest: {
    currentPassword: 'correct horse battery staple',
    newPassword: 'a better one of 1815',
  },
  NewSecondFactor: {
    secret: 'JBSWY3DPEHPK3PXP',
    uri: 'otpauth://totp/svc:ada%40mailmonkey.example.com?issuer=svc&secret=JBSWY3DPEHPK3PXP',
  },
  BeginSecondFactorRequest: { password: 'correct horse battery staple' },
  ConfirmSecondFactorRequest: { code: '123456' },
  RecoveryCodes: { recoveryCodes: ['k7mnp-2q4rs-9tvwx'] },
  VerifySecondFactorRequest: { code: '123456' },
  RemoveSecondFactorRequest: { password: 'correct horse battery staple' },
};
