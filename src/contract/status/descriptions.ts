// Requests and replies of the routed operations of status.
import { json, ok, PLAIN_TEXT, type Descriptions } from '#contract/description.ts'
import { errorRate } from '#contract/accounts/error-rate.ts'
import { probeQuery, probeReply } from './probe.ts'
import * as service from '#contract/service-replies.ts'
import type { STATUS } from './operations.ts'

export const STATUS_DESCRIPTIONS: Descriptions<typeof STATUS> = {
  'service.health': {
    summary: 'Whether this process answers',
    replies: ok('It does', json(service.health)),
  },
  'service.ready': {
    refusals: ['state_unavailable', 'storage_fenced', 'storage_full'],
    summary: 'Whether it may be sent requests',
    replies: ok('It may', json(service.ready)),
  },
  'service.metrics': {
    refusals: ['token_unknown', 'not_found'],
    summary: 'Figures in the Prometheus text format, for the bearer of ERGON_METRICS_TOKEN',
    replies: ok('The figures', PLAIN_TEXT),
  },
  'probe.get': {
    summary: 'What the installation found when it last asked itself, by component and day',
    query: probeQuery,
    replies: ok('The results, for anyone', json(probeReply)),
  },
  'error-rate.get': {
    summary: 'Requests of the account that the service failed, and its name on the status page',
    replies: ok('The counts of the last hours', json(errorRate)),
  },
  'public-name.renew': {
    summary: 'Give the account another name on the status page; its counts begin anew',
    replies: ok('The new name', json(errorRate)),
  },
}
