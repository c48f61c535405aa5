// Requests and replies of the routed operations of workloads.
import { json, ok, type Descriptions } from '#contract/description.ts'
import { hourlyEnergyQuery } from '#contract/resources/hourly-energy.ts'
import { intervalList, intervalsQuery } from '#contract/resources/intervals.ts'
import type { WORKLOADS } from './operations.ts'
import * as registries from './registries.ts'
import * as replies from './workload-replies.ts'
import * as workloads from './workloads.ts'

const shown = json(replies.workloadReply)
const refusals = ['workload_not_found'] as const
const ofVolumes = [
  'volumes_off',
  'volume_quota_exceeded',
  'volume_smaller',
  'volume_left_out',
] as const

export const WORKLOADS_DESCRIPTIONS: Descriptions<typeof WORKLOADS> = {
  'workload.deploy': {
    summary:
      'Run an image as a workload, or another version of it; what is left out stays as it was. A version that does not become ready never answers',
    request: workloads.workloadRequest,
    replies: { 201: { help: 'The workload, on its way', media: shown } },
    refusals: [
      'image_refused',
      'host_taken',
      'too_many_instances',
      'too_many_workloads',
      'workloads_off',
      ...ofVolumes,
    ],
  },
  'workload.list': {
    summary: 'The workloads of the account, the oldest first',
    replies: ok('The workloads', json(replies.workloadList)),
  },
  'workload.get': {
    summary: 'A workload, by its id or its name',
    replies: ok('The workload', shown),
    refusals,
  },
  'workload.update': {
    summary: 'Change a workload; another image, environment or size is another version',
    request: workloads.workloadChange,
    replies: ok('The workload', shown),
    refusals: [
      ...refusals,
      'image_refused',
      'host_taken',
      'too_many_instances',
      'workloads_off',
      ...ofVolumes,
    ],
  },
  'workload.delete': {
    summary: 'Delete a workload with its versions and its log',
    replies: ok('It is being deleted', json(replies.workloadDeleted)),
    refusals,
  },
  'workload.logs': {
    summary: 'The newest lines that a workload has written',
    query: replies.workloadLogsQuery,
    replies: ok('The lines', json(replies.workloadLogs)),
    refusals,
  },
  'workload.energy': {
    summary: 'The energy, carbon and charges of a workload, by the hour',
    query: hourlyEnergyQuery,
    replies: ok('The figures', json(replies.workloadEnergy)),
    refusals,
  },
  'workload.intervals': {
    summary:
      'When each instance of a workload was awake, what woke it and why it slept, the newest first',
    query: intervalsQuery,
    replies: ok('The intervals', json(intervalList)),
    refusals,
  },
  'workload.scale': {
    summary: 'Set how many instances a workload has',
    request: workloads.workloadScale,
    replies: ok('The workload', shown),
    refusals: [...refusals, 'too_many_instances'],
  },
  'workload.suspend': {
    summary: 'Stop a workload until it is resumed',
    request: workloads.nothingToChoose,
    replies: ok('The workload', shown),
    refusals,
  },
  'workload.resume': {
    summary: 'Let a suspended workload run again',
    request: workloads.nothingToChoose,
    replies: ok('The workload', shown),
    refusals,
  },
  'workload.rollback': {
    summary: 'Make an earlier version of a workload live again',
    request: workloads.workloadRollback,
    replies: ok('The workload', shown),
    refusals: [...refusals, 'workload_version_not_found', 'volume_quota_exceeded'],
  },
  'registry.list': {
    summary: 'The registries whose passwords the account keeps',
    replies: ok('The registries', json(registries.registryList)),
  },
  'registry.login': {
    summary:
      'Keep a password of a registry for the pulls of the account’s images, in place of the one before',
    request: registries.registryLogin,
    replies: ok('The registry', json(registries.registryReply)),
    refusals: ['too_many_registries'],
  },
  'registry.logout': {
    summary: 'Forget the password of a registry; images that were pulled stay',
    replies: ok('It is forgotten', json(registries.registryDeleted)),
    refusals: ['registry_not_found'],
  },
}
