/** Standard objects: type id, singular, plural, and what is special about each. */
export type StandardObject = {
  typeId: string;
  singular: string;
  plural: string;
  primary?: string;
  defaults?: string[];
  required?: string[];
  requiredOneOf?: string[];
  searchable?: string[];
};

const ENGAGEMENT = { required: ['hs_timestamp'], primary: 'hs_timestamp' };

export const STANDARD_OBJECTS: StandardObject[] = [
  {
    typeId: '0-1',
    singular: 'contact',
    plural: 'contacts',
    primary: 'email',
    defaults: ['firstname', 'lastname', 'email'],
    searchable: ['firstname', 'lastname', 'email', 'phone', 'company'],
  },
  {
    typeId: '0-2',
    singular: 'company',
    plural: 'companies',
    primary: 'name',
    defaults: ['name', 'domain'],
    requiredOneOf: ['name', 'domain'],
    searchable: ['name', 'domain', 'website', 'phone'],
  },
  {
    typeId: '0-3',
    singular: 'deal',
    plural: 'deals',
    primary: 'dealname',
    defaults: ['dealname', 'amount', 'closedate', 'pipeline', 'dealstage'],
    required: ['dealname', 'dealstage'],
    searchable: ['dealname', 'pipeline', 'dealstage', 'description'],
  },
  {
    typeId: '0-5',
    singular: 'ticket',
    plural: 'tickets',
    primary: 'subject',
    defaults: [
      'subject',
      'content',
      'hs_pipeline',
      'hs_pipeline_stage',
      'hs_ticket_category',
      'hs_ticket_priority',
    ],
    required: ['subject', 'hs_pipeline_stage'],
    searchable: ['subject', 'content', 'hs_pipeline_stage'],
  },
  {
    typeId: '0-7',
    singular: 'product',
    plural: 'products',
    primary: 'name',
    defaults: ['name', 'description', 'price'],
    searchable: ['name', 'description', 'price', 'hs_sku'],
  },
  {
    typeId: '0-8',
    singular: 'line_item',
    plural: 'line_items',
    primary: 'name',
    defaults: ['name', 'quantity', 'price', 'amount'],
  },
  { typeId: '0-14', singular: 'quote', plural: 'quotes', primary: 'hs_title', defaults: ['hs_title'] },
  { typeId: '0-18', singular: 'communication', plural: 'communications', ...ENGAGEMENT },
  { typeId: '0-27', singular: 'task', plural: 'tasks', ...ENGAGEMENT },
  { typeId: '0-46', singular: 'note', plural: 'notes', ...ENGAGEMENT },
  { typeId: '0-47', singular: 'meeting', plural: 'meetings', ...ENGAGEMENT },
  { typeId: '0-48', singular: 'call', plural: 'calls', ...ENGAGEMENT },
  { typeId: '0-49', singular: 'email', plural: 'emails', ...ENGAGEMENT },
  { typeId: '0-53', singular: 'invoice', plural: 'invoices' },
  { typeId: '0-54', singular: 'marketing_event', plural: 'marketing_events' },
  { typeId: '0-69', singular: 'subscription', plural: 'subscriptions' },
  { typeId: '0-74', singular: 'goal_target', plural: 'goal_targets' },
  { typeId: '0-101', singular: 'payment', plural: 'payments' },
  { typeId: '0-115', singular: 'user', plural: 'users' },
  { typeId: '0-116', singular: 'postal_mail', plural: 'postal_mail', ...ENGAGEMENT },
  { typeId: '0-123', singular: 'order', plural: 'orders' },
  { typeId: '0-136', singular: 'lead', plural: 'leads' },
  { typeId: '0-142', singular: 'cart', plural: 'carts' },
  { typeId: '0-162', singular: 'service', plural: 'services' },
  { typeId: '0-410', singular: 'course', plural: 'courses' },
  { typeId: '0-420', singular: 'listing', plural: 'listings' },
  { typeId: '0-421', singular: 'appointment', plural: 'appointments' },
  { typeId: '0-970', singular: 'project', plural: 'projects' },
];

/** Objects whose scopes are those of contacts. */
export const ACTIVITY_OBJECTS = [
  'communications',
  'tasks',
  'notes',
  'meetings',
  'calls',
  'emails',
  'postal_mail',
];
