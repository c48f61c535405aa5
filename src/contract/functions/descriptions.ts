// Requests and replies of the routed operations of functions.
import { json, ok, type Descriptions } from '#contract/description.ts'
import * as functions from './functions.ts'
import { hourlyEnergyQuery } from '#contract/resources/hourly-energy.ts'
import { intervalList, intervalsQuery } from '#contract/resources/intervals.ts'
import type { FUNCTIONS } from './operations.ts'

const shown = json(functions.functionReply)

export const FUNCTIONS_DESCRIPTIONS: Descriptions<typeof FUNCTIONS> = {
  'function.deploy': {
    summary:
      'Deploy a function, or another version of it; what is left out stays as it was, and a suspended function is resumed. A version that cannot be started never becomes live',
    request: functions.functionRequest,
    replies: { 201: { help: 'The function, on its way', media: shown } },
    refusals: [
      'runtime_unknown',
      'function_bucket_not_found',
      'route_taken',
      'host_taken',
      'too_many_functions',
      'functions_off',
    ],
  },
  'function.list': {
    summary: 'The functions of the account, the oldest first',
    replies: ok('The functions', json(functions.functionList)),
  },
  'function.get': {
    summary: 'A function, by its id or its name',
    replies: ok('The function', shown),
    refusals: ['function_not_found'],
  },
  'function.logs': {
    summary: 'The newest lines that a function has written, by the request that each belongs to',
    query: functions.functionLogsQuery,
    replies: ok('The lines', json(functions.functionLogs)),
    refusals: ['function_not_found'],
  },
  'function.energy': {
    summary: 'The energy, carbon and charges of a function, by the hour',
    query: hourlyEnergyQuery,
    replies: ok('The figures', json(functions.functionEnergy)),
    refusals: ['function_not_found'],
  },
  'function.intervals': {
    summary: 'When a function was awake, what woke it and why it slept, the newest first',
    query: intervalsQuery,
    replies: ok('The intervals', json(intervalList)),
    refusals: ['function_not_found'],
  },
  'function.failures': {
    summary: 'The runs for objects and times that failed for good, the newest first',
    replies: ok('The runs', json(functions.functionFailures)),
    refusals: ['function_not_found'],
  },
  'function.replay': {
    summary: 'Run again what failed for good: one run, or all of the function',
    request: functions.replayRequest,
    replies: ok('The number of runs', json(functions.functionReplayed)),
    refusals: ['function_not_found', 'function_run_not_found'],
  },
  'function.discard': {
    summary: 'Forget what failed for good: one run, or all of the function',
    request: functions.discardRequest,
    replies: ok('The number of runs', json(functions.functionDiscarded)),
    refusals: ['function_not_found', 'function_run_not_found'],
  },
  'function.update': {
    summary: 'Suspend or resume a function, or change its energy budget or its host names',
    request: functions.functionChange,
    replies: ok('The function', shown),
    refusals: ['function_not_found', 'host_taken'],
  },
  'function.rollback': {
    summary: 'Make an earlier version of a function live again; a suspended function is resumed',
    request: functions.rollbackRequest,
    replies: ok('The function', shown),
    refusals: ['function_not_found', 'function_version_not_found', 'route_taken'],
  },
  'function.delete': {
    summary: 'Delete a function with its versions and its log',
    replies: ok('It is being deleted', json(functions.functionDeleted)),
    refusals: ['function_not_found'],
  },
}
