import { startSalesforce } from '../../../simulator/salesforce/index.ts';
import { testAnswers } from '../answers.testsuite.ts';
import { testConnector } from '../connector.testsuite.ts';
import { testUpserts } from '../upsert.testsuite.ts';
import { salesforce } from './index.ts';

testConnector('salesforce', async () => {
  const simulator = await startSalesforce({ records: 10 });
  return {
    connector: salesforce,
    url: simulator.url,
    close: simulator.close,
    objectName: 'Account',
    label: 'Name',
    record: (text) => ({ fields: { Name: text } }),
    badRecord: { fields: { Name: 'Bad', NumberOfEmployees: 'many' } },
    missingId: '001000000000ZZZAAA',
    deleteGone: 'notApplied',
    writePath: '/services/data/v60.0/',
    notReached: [],
    tooMany: {
      status: 403,
      body: [{ message: 'TotalRequests Limit exceeded.', errorCode: 'REQUEST_LIMIT_EXCEEDED' }],
    },
  };
});

testUpserts('salesforce', async () => {
  const simulator = await startSalesforce({ records: 10 });
  return {
    connector: salesforce,
    url: simulator.url,
    close: simulator.close,
    objectName: 'Contact',
    upsertBy: 'External_Id__c',
    label: 'LastName',
    bad: { NoSuchField: 'x' },
  };
});

testAnswers('salesforce', async () => {
  const simulator = await startSalesforce({ records: 0 });
  return {
    connector: salesforce,
    url: simulator.url,
    close: simulator.close,
    objectName: 'Contact',
    fields: { LastName: 'Told', External_Id__c: 'told-1' },
    unique: 'External_Id__c',
  };
});
