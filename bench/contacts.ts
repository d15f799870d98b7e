/** As a provider lists it. */
export interface ListedContact {
  properties: Record<string, unknown>;
}

/** What is read of a contact. */
export const fields =
  `email firstname lastname phone mobilephone company jobtitle website address city state zip country
lifecyclestage hs_lead_status numemployees annualrevenue message`.split(/\s+/);
/** From the builder's name to the provider's. */
export const mapped = {
  mail: 'email',
  given: 'firstname',
  family: 'lastname',
  title: 'jobtitle',
  employer: 'company',
};

/** A contact whose entry in a message has about two kilobytes, most of them once in `fields` and once in `raw`. */
export function contactOf(n: number): ListedContact {
  return {
    properties: {
      email: `somebody.${n}@customer-${n % 17}.example.com`,
      firstname: ['Ada', 'Barbara', 'Edsger', 'Grace'][n % 4] ?? '',
      lastname: `Lovelace-${n}`,
      phone: `+41 31 ${1_000_000 + n * 7_919}`,
      mobilephone: `+41 79 ${2_000_000 + n * 104_729}`,
      company: `Customer ${n % 17} Incorporated`,
      jobtitle: 'Head of Research and Development',
      website: `https://customer-${n % 17}.example.com/people/${n}`,
      address: `${n} Analytical Engine Street`,
      city: 'Zürich',
      state: 'ZH',
      zip: String(8_000 + n),
      country: 'Switzerland',
      lifecyclestage: 'customer',
      hs_lead_status: 'CONNECTED',
      numemployees: String(n * 13),
      annualrevenue: String(n * 1_300_007),
      message:
        `Met at the fair, asked for an offer for ${n} seats, and wants to be called "early" next week.\n`.repeat(
          3,
        ),
    },
  };
}

interface Entry {
  fields: Record<string, unknown>;
  mappedFields: Record<string, unknown>;
  raw: ListedContact;
}

/** An entry as the product makes it. */
export function entryOf(record: ListedContact): Entry {
  const { properties } = record;
  const values = (names: [to: string, from: string][]): Record<string, unknown> =>
    Object.fromEntries(names.map(([to, from]) => [to, properties[from]]));
  return {
    fields: values(fields.map((name) => [name, name])),
    mappedFields: values(Object.entries(mapped)),
    raw: record,
  };
}
