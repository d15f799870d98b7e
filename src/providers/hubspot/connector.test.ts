import { startHubspot } from '../../../simulator/hubspot/index.ts';
import { testAnswers } from '../answers.testsuite.ts';
import { testConnector } from '../connector.testsuite.ts';
import { testUpserts } from '../upsert.testsuite.ts';
import { hubspot } from './index.ts';

testConnector('hubspot', async () => {
  const simulator = await startHubspot({ records: 10 });
  let count = 0;
  return {
    connector: hubspot,
    url: simulator.url,
    close: simulator.close,
    objectName: 'contacts',
    label: 'lastname',
    record(text) {
      count += 1;
      return { fields: { lastname: text, email: `Person${count}@connector.example` } };
    },
    badRecord: { fields: { lastname: 'Bad', nosuchproperty: 'x' } },
    missingId: '999999999',
    deleteGone: 'applied',
    writePath: '/crm/v3/objects/contacts',
    notReached: [521, 523, 525, 526],
    tooMany: {
      status: 429,
      body: {
        status: 'error',
        message: 'You have reached your ten_secondly_rolling limit.',
        errorType: 'RATE_LIMIT',
        policyName: 'TEN_SECONDLY_ROLLING',
      },
    },
  };
});

testUpserts('hubspot', async () => {
  const simulator = await startHubspot({ records: 10 });
  return {
    connector: hubspot,
    url: simulator.url,
    close: simulator.close,
    objectName: 'contacts',
    upsertBy: 'email',
    label: 'lastname',
    bad: { nosuchproperty: 'x' },
  };
});

testAnswers('hubspot', async () => {
  const simulator = await startHubspot({ records: 0 });
  return {
    connector: hubspot,
    url: simulator.url,
    close: simulator.close,
    objectName: 'contacts',
    fields: { lastname: 'Told', email: 'told@answers.example' },
    unique: 'email',
  };
});
