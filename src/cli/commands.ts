// The commands as a table: one line an area. A command is loaded when it is called, so that the first answer is quick.
import { WEBHOOKS_COMMANDS } from './command-lists/webhooks.ts'
import { COMPLIANCE_COMMANDS } from './command-lists/compliance.ts'
import { DATABASES_COMMANDS } from './command-lists/databases.ts'
import type { CommandList, CommandSpec } from './command-spec.ts'
import { ADMIN_COMMANDS } from './command-lists/admin.ts'
import { ARTIFACTS_COMMANDS } from './command-lists/artifacts.ts'
import { FUNCTIONS_COMMANDS } from './command-lists/functions.ts'
import { INFERENCE_COMMANDS } from './command-lists/inference.ts'
import { NODE_COMMANDS } from './command-lists/node.ts'
import { PAYMENTS_COMMANDS } from './command-lists/payments.ts'
import { RECEIPTS_COMMANDS } from './command-lists/receipts.ts'
import { SELF_COMMANDS } from './command-lists/self.ts'
import { STORAGE_COMMANDS } from './command-lists/storage.ts'
import { MEMBERS_COMMANDS } from './command-lists/members.ts'
import { STACK_COMMANDS } from './command-lists/stack.ts'
import { WORKLOADS_COMMANDS } from './command-lists/workloads.ts'
import { TOKENS_COMMANDS } from './command-lists/tokens.ts'

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
