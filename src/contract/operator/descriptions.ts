// Requests and replies of the operator's view of the node.
import { incidentOpening, incidentTelling } from '#contract/status/control.ts'
import { json, ok, type Descriptions } from '#contract/description.ts'
import type { OPERATOR } from './operations.ts'
import * as operator from './operator.ts'

const incident = ok('The incident, as the status page shows it', json(operator.operatorIncident))
const only = ['operator_only'] as const

export const OPERATOR_DESCRIPTIONS: Descriptions<typeof OPERATOR> = {
  'operator-node.get': {
    summary: 'The node now: its meter and how it knows, its cells, its disks, its versions',
    replies: ok('What the agent wrote within the last seconds', json(operator.operatorNode)),
    refusals: only,
  },
  'operator-books.get': {
    summary: 'When the books were checked and what was found, the signers, and the backups',
    replies: ok('As the state has them', json(operator.operatorBooks)),
    refusals: only,
  },
  'operator-log.get': {
    summary: 'The last lines of the log of the agent and its programs',
    query: operator.operatorLogQuery,
    replies: ok('At most 500 lines, the oldest first', json(operator.operatorLog)),
    refusals: only,
  },
  'operator-account.list': {
    summary: 'The accounts with their balance and their use of a day; nothing of their contents',
    query: operator.operatorAccountQuery,
    replies: ok('The newest first', json(operator.operatorAccountList)),
    refusals: only,
  },
  'operator-account.suspend': {
    summary:
      'Suspend an account: its requests are refused with the reason, its databases and functions end',
    request: operator.accountSuspension,
    replies: ok('It is suspended', json(operator.operatorAccountChanged)),
    refusals: [...only, 'not_found', 'operator_account', 'account_suspended'],
  },
  'operator-account.resume': {
    summary: 'End the suspension of an account',
    replies: ok('It is active', json(operator.operatorAccountChanged)),
    refusals: [...only, 'not_found', 'operator_account', 'account_not_suspended'],
  },
  'operator-alarm.list': {
    summary: 'Alarms, each with what was found and the command that shows more',
    query: operator.operatorAlarmQuery,
    replies: ok('The newest first', json(operator.operatorAlarmList)),
    refusals: only,
  },
  'operator-alarm.acknowledge': {
    summary: 'Acknowledge an alarm and the earlier ones of its kind; this repairs nothing',
    replies: ok('How many were acknowledged', json(operator.alarmAcknowledged)),
    refusals: [...only, 'alarm_not_found'],
  },
  'operator-incident.list': {
    summary: 'Incidents of regions, as the status page shows them',
    replies: ok('The newest first, at most a thousand', json(operator.operatorIncidentList)),
    refusals: only,
  },
  'operator-incident.open': {
    summary: 'Open an incident of a region and tell each account that has something there',
    request: incidentOpening,
    replies: incident,
    refusals: [...only, 'incident_open'],
  },
  'operator-incident.update': {
    summary: 'Add words to an incident, open or closed, or say what was lost and not billed',
    request: incidentTelling,
    replies: incident,
    refusals: [...only, 'incident_not_found'],
  },
  'operator-incident.close': {
    summary: 'Close an incident, with last words',
    request: incidentTelling,
    replies: incident,
    refusals: [...only, 'incident_not_found'],
  },
}
