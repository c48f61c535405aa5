// Rules for the labels of blocks. A name goes into addresses, file names and command lines: no character of it means
// anything to a shell.
import { databaseRequest } from '#contract/databases/databases.ts'
import { VARIABLE_NAME } from '#contract/functions/function-limits.ts'
import { HOST_NAME } from '#contract/resources/host-limits.ts'
import { WORKLOAD_NAME } from '#contract/workloads/workload-limits.ts'
import type { LabelRule } from './block-type.ts'

const matching = (expected: string, pattern: RegExp): LabelRule => ({
  expected,
  isValid: (text) => pattern.test(text),
})

export const RESOURCE_NAME = matching(
  'a name of a-z, 0-9 and -, which begins with a letter and has at most 63 characters',
  /^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/,
)
/** It is part of a host name beside the account. */
export const NAME_OF_WORKLOAD = matching(
  'a name of a-z, 0-9 and -, which begins with a letter and has at most 31 characters',
  WORKLOAD_NAME,
)
export const BUCKET_NAME = matching(
  'a name of 3 to 63 characters of a-z, 0-9, . and -, with a letter or digit at both ends',
  /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
)
export const DATABASE_NAME: LabelRule = {
  expected:
    'the name of a database: a-z, 0-9, - and _, beginning with a letter, and none of PostgreSQL itself',
  isValid: (text) => databaseRequest.shape.name.safeParse(text).success,
}
export const HOSTNAME = matching('a hostname in lower case, such as api.example.com', HOST_NAME)
/** The names of variables, outputs, secrets and volumes, which an expression can use. */
export const IDENTIFIER = matching(
  'a name of letters, digits, _ and -, which begins with a letter or _',
  /^[A-Za-z_][A-Za-z0-9_-]{0,127}$/,
)
export const ENVIRONMENT_NAME = matching(
  'the name of an environment variable: letters, digits and _, not beginning with SVC_',
  VARIABLE_NAME,
)
