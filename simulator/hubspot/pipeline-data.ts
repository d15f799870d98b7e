export type Stage = {
  id: string;
  label: string;
  displayOrder: number;
  metadata: Record<string, string>;
  archived: boolean;
  createdAt: string;
  updatedAt: string;
};

export type Pipeline = Omit<Stage, 'metadata'> & { stages: Stage[] };

export type Owner = {
  id: string;
  email: string;
  firstName: string;
  lastName: string;
  /** Null once the person is archived. */
  userId: number | null;
  userIdIncludingInactive: number;
  type: 'PERSON';
  archived: boolean;
  createdAt: string;
  updatedAt: string;
};

const BORN = '2020-01-01T00:00:00.000Z';
const DATES = { archived: false, createdAt: BORN, updatedAt: BORN };

const DEAL_STAGES: [id: string, label: string, probability: string][] = [
  ['appointmentscheduled', 'Appointment Scheduled', '0.2'],
  ['qualifiedtobuy', 'Qualified To Buy', '0.4'],
  ['presentationscheduled', 'Presentation Scheduled', '0.6'],
  ['decisionmakerboughtin', 'Decision Maker Bought-In', '0.8'],
  ['contractsent', 'Contract Sent', '0.9'],
  ['closedwon', 'Closed Won', '1.0'],
  ['closedlost', 'Closed Lost', '0.0'],
];

const TICKET_STAGES: [id: string, label: string, state: string][] = [
  ['1', 'New', 'OPEN'],
  ['2', 'Waiting on contact', 'OPEN'],
  ['3', 'Waiting on us', 'OPEN'],
  ['4', 'Closed', 'CLOSED'],
];

/** The pipelines a new account has, by object. */
export function standardPipelines(): Map<string, Pipeline[]> {
  const dealStages = DEAL_STAGES.map(([id, label, probability], i) => stage(id, label, i, { probability }));
  const ticketStages = TICKET_STAGES.map(([id, label, ticketState], i) =>
    stage(id, label, i, { ticketState }),
  );
  return new Map([
    ['deals', [{ id: 'default', label: 'Sales Pipeline', displayOrder: 0, ...DATES, stages: dealStages }]],
    ['tickets', [{ id: '0', label: 'Support Pipeline', displayOrder: 0, ...DATES, stages: ticketStages }]],
  ]);
}

function stage(id: string, label: string, displayOrder: number, metadata: Record<string, string>): Stage {
  return { id, label, displayOrder, metadata, ...DATES };
}

/** The people of a new account. */
export function standardOwners(): Owner[] {
  const people: [string, string][] = [
    ['Ada', 'Lovelace'],
    ['Grace', 'Hopper'],
    ['Alan', 'Turing'],
  ];
  return people.map(([firstName, lastName], i) => newOwner(firstName, lastName, i));
}

export function newOwner(firstName: string, lastName: string, i: number): Owner {
  return {
    id: String(41629770 + i),
    email: `${firstName}.${lastName}@example.com`.toLowerCase(),
    firstName,
    lastName,
    userId: 9586500 + i,
    userIdIncludingInactive: 9586500 + i,
    type: 'PERSON',
    ...DATES,
  };
}
