// Limits: functions.
import * as functions from '#contract/functions/function-limits.ts'
import { HOSTS_MAX } from '#contract/resources/host-limits.ts'
import { ROUTED_REQUESTS_MAX } from '#ingress/turns.ts'
import { bytes, code, count, words, type LimitSection } from './limit.ts'

export const FUNCTIONS: LimitSection = {
  title: 'Functions',
  limits: [
    ['functions of an account', count(functions.FUNCTIONS_MAX), code('too_many_functions')],
    ['host names of a function', count(HOSTS_MAX), code('invalid_request')],
    [
      'code, bundled',
      `${count(functions.FUNCTION_SOURCE_MAX)} characters`,
      code('invalid_request'),
    ],
    [
      'time of a request',
      `1 to ${count(functions.FUNCTION_TIMEOUT_S_MAX)} s`,
      code('function_timeout'),
    ],
    [
      'requests of a function at once',
      `${functions.FUNCTION_CONCURRENCY}, up to ${functions.FUNCTION_CONCURRENCY_MAX} by \`concurrency\`, and ${functions.FUNCTION_WAITING_MAX} that wait`,
      code('function_busy'),
    ],
    [
      'requests of an account at the ingress',
      `${ROUTED_REQUESTS_MAX} that run or wait`,
      code('function_busy'),
    ],
    [
      'runs for objects and times at once',
      `${functions.FUNCTION_RUNS_AT_ONCE.account} of an account, ${functions.FUNCTION_RUNS_AT_ONCE.node} of a node`,
      words('further ones wait'),
    ],
    [
      'runs that wait, of a function',
      count(functions.FUNCTION_RUNS_MAX),
      words('the oldest are dropped'),
    ],
    ['body of a request', bytes(functions.FUNCTION_BODY_BYTES_MAX), code('body_too_large')],
    [
      'lines of a log',
      `the newest ${count(functions.FUNCTION_LOG_LINES_MAX)}`,
      words('older ones go'),
    ],
  ],
}
