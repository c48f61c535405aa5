// The commands as a table: one line an area. A command is loaded when it is called, so that the first answer is quick.
import { WEBHOOKS_COMMANDS } from './commands/webhooks-commands.ts'
import { COMPLIANCE_COMMANDS } from './commands/compliance-commands.ts'
import { DATABASES_COMMANDS } from './commands/databases-commands.ts'
import type { CommandList, CommandSpec } from './command-spec.ts'
import { ADMIN_COMMANDS } from './commands/admin-commands.ts'
import { ARTIFACTS_COMMANDS } from './commands/artifacts-commands.ts'
import { FUNCTIONS_COMMANDS } from './commands/functions-commands.ts'
import { INFERENCE_COMMANDS } from './commands/inference-commands.ts'
import { NODE_COMMANDS } from './commands/node-commands.ts'
import { PAYMENTS_COMMANDS } from './commands/payments-commands.ts'
import { RECEIPTS_COMMANDS } from './commands/receipts-commands.ts'
import { SELF_COMMANDS } from './commands/self-commands.ts'
import { STORAGE_COMMANDS } from './commands/storage-commands.ts'
import { MEMBERS_COMMANDS } from './commands/members-commands.ts'
import { STACK_COMMANDS } from './commands/stack-commands.ts'
import { WORKLOADS_COMMANDS } from './commands/workloads-commands.ts'
import { TOKENS_COMMANDS } from './commands/tokens-commands.ts'

const LISTS: readonly CommandList[] = [
  NODE_COMMANDS,
  INFERENCE_COMMANDS,
  ARTIFACTS_COMMANDS,
  STORAGE_COMMANDS,
  RECEIPTS_COMMANDS,
  ADMIN_COMMANDS,
  SELF_COMMANDS,
  DATABASES_COMMANDS,
  FUNCTIONS_COMMANDS,
  WORKLOADS_COMMANDS,
  TOKENS_COMMANDS,
  MEMBERS_COMMANDS,
  PAYMENTS_COMMANDS,
  WEBHOOKS_COMMANDS,
  COMPLIANCE_COMMANDS,
  STACK_COMMANDS,
]

export const COMMANDS: readonly CommandSpec[] = LISTS.flatMap(({ commands }) => commands)

/** Help of the words that only begin commands. */
export const GROUPS: Readonly<Record<string, string>> = Object.assign(
  {},
  ...LISTS.map(({ groups }) => groups),
)
