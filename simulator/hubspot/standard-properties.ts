/** One standard property in short: name, type, field type, label, and options or marks after it. */
export type ShortProperty = {
  name: string;
  type: string;
  fieldType?: string;
  label?: string;
  options?: string[];
  readOnly?: boolean;
  calculated?: boolean;
  unique?: boolean;
  external?: boolean;
  references?: string;
};

const text = (name: string, label?: string): ShortProperty => ({
  name,
  type: 'string',
  ...(label ? { label } : {}),
});
const number = (name: string, label?: string): ShortProperty => ({
  name,
  type: 'number',
  ...(label ? { label } : {}),
});
const choice = (name: string, options: string[], fieldType = 'select'): ShortProperty => ({
  name,
  type: 'enumeration',
  fieldType,
  options,
});
const time = (name: string): ShortProperty => ({ name, type: 'datetime' });
const flag = (name: string): ShortProperty => ({ name, type: 'bool', options: ['true', 'false'] });
const shown = (property: ShortProperty): ShortProperty => ({ ...property, readOnly: true });
const external = (name: string, references?: string): ShortProperty => ({
  name,
  type: 'enumeration',
  fieldType: 'select',
  external: true,
  ...(references ? { references } : {}),
});

const OWNER = external('hubspot_owner_id', 'OWNER');
const ADDRESS = [text('address'), text('city'), text('state'), text('zip'), text('country')];
const LIFECYCLE = choice(
  'lifecyclestage',
  [
    'subscriber',
    'lead',
    'marketingqualifiedlead',
    'salesqualifiedlead',
    'opportunity',
    'customer',
    'evangelist',
    'other',
  ],
  'radio',
);
const ENGAGEMENT = [time('hs_timestamp'), OWNER, choice('hs_attachment_kind', ['none', 'file'])];

/** On every object. */
export const SYSTEM_PROPERTIES: ShortProperty[] = [
  shown(number('hs_object_id', 'Record ID')),
  shown({ ...choice('hs_merged_object_ids', [], 'checkbox'), label: 'Merged record IDs' }),
  shown(text('hs_object_source')),
];

/** Each object's own properties; objects not named here have `name` and an owner. */
export const STANDARD_PROPERTIES: Record<string, ShortProperty[]> = {
  contacts: [
    { ...text('email', 'Email'), unique: true },
    shown({ ...choice('hs_additional_emails', [], 'checkbox'), label: 'Additional email addresses' }),
    text('firstname', 'First Name'),
    text('lastname', 'Last Name'),
    { ...text('phone', 'Phone Number'), fieldType: 'phonenumber' },
    text('mobilephone', 'Mobile Phone Number'),
    text('company', 'Company Name'),
    text('jobtitle', 'Job Title'),
    text('website', 'Website URL'),
    ...ADDRESS,
    LIFECYCLE,
    choice('hs_lead_status', ['NEW', 'OPEN', 'IN_PROGRESS', 'UNQUALIFIED', 'CONNECTED', 'BAD_TIMING']),
    OWNER,
    number('numemployees'),
    number('annualrevenue'),
    { name: 'date_of_birth', type: 'date' },
    flag('hs_email_optout'),
    choice(
      'hs_buying_role',
      ['BLOCKER', 'BUDGET_HOLDER', 'CHAMPION', 'DECISION_MAKER', 'END_USER'],
      'checkbox',
    ),
    { ...text('message'), fieldType: 'textarea' },
    shown(time('notes_last_contacted')),
    { ...shown(number('num_associated_deals')), calculated: true },
    { ...shown(text('hs_email_domain')), calculated: true },
  ],
  companies: [
    text('name', 'Company name'),
    text('domain', 'Company Domain Name'),
    text('phone'),
    text('website'),
    ...ADDRESS,
    choice('industry', ['COMPUTER_SOFTWARE', 'BANKING', 'BIOTECHNOLOGY', 'EDUCATION_MANAGEMENT', 'RETAIL']),
    choice('type', ['PROSPECT', 'PARTNER', 'RESELLER', 'VENDOR', 'OTHER']),
    number('numberofemployees'),
    number('annualrevenue'),
    { ...text('description'), fieldType: 'textarea' },
    text('founded_year'),
    flag('is_public'),
    LIFECYCLE,
    OWNER,
    { ...shown(number('num_associated_contacts')), calculated: true },
  ],
  deals: [
    text('dealname', 'Deal Name'),
    number('amount'),
    time('closedate'),
    external('pipeline'),
    external('dealstage'),
    choice('dealtype', ['newbusiness', 'existingbusiness']),
    choice('hs_priority', ['low', 'medium', 'high']),
    { ...text('description'), fieldType: 'textarea' },
    OWNER,
    { ...shown(number('hs_forecast_amount')), calculated: true },
  ],
  tickets: [
    text('subject', 'Ticket name'),
    { ...text('content'), fieldType: 'textarea' },
    external('hs_pipeline'),
    external('hs_pipeline_stage'),
    choice('hs_ticket_priority', ['LOW', 'MEDIUM', 'HIGH', 'URGENT']),
    choice(
      'hs_ticket_category',
      ['PRODUCT_ISSUE', 'BILLING_ISSUE', 'FEATURE_REQUEST', 'GENERAL_INQUIRY'],
      'checkbox',
    ),
    OWNER,
  ],
  products: [text('name'), text('description'), number('price'), text('hs_sku'), text('hs_url')],
  line_items: [text('name'), number('quantity'), number('price'), number('amount'), number('hs_product_id')],
  quotes: [text('hs_title'), { name: 'hs_expiration_date', type: 'date' }, text('hs_status')],
  communications: [...ENGAGEMENT, text('hs_communication_channel_type'), text('hs_communication_body')],
  tasks: [
    ...ENGAGEMENT,
    text('hs_task_subject'),
    text('hs_task_body'),
    choice('hs_task_status', ['NOT_STARTED', 'IN_PROGRESS', 'WAITING', 'COMPLETED', 'DEFERRED']),
    choice('hs_task_priority', ['LOW', 'MEDIUM', 'HIGH']),
  ],
  notes: [...ENGAGEMENT, { ...text('hs_note_body'), fieldType: 'html' }],
  meetings: [...ENGAGEMENT, text('hs_meeting_title'), text('hs_meeting_body'), time('hs_meeting_start_time')],
  calls: [
    ...ENGAGEMENT,
    text('hs_call_title'),
    text('hs_call_body'),
    number('hs_call_duration'),
    text('hs_call_direction'),
  ],
  emails: [...ENGAGEMENT, text('hs_email_subject'), text('hs_email_text'), text('hs_email_direction')],
};

export const OTHER_PROPERTIES: ShortProperty[] = [text('name'), text('hs_name'), OWNER];

/** Objects whose creation time is `createdate`; the rest have `hs_createdate`. */
export const CREATEDATE_OBJECTS = [
  'contacts',
  'companies',
  'deals',
  'tickets',
  'products',
  'line_items',
  'quotes',
];
