// The settings of functions that the agent gives to the gateways.
import { createHmac } from 'node:crypto'
import type { FunctionsAddress } from '#contract/functions/functions-address.ts'

export type FunctionGatewaySettings = {
  /** Where they answer; undefined where the node runs none: those that there are can be listed and deleted. */
  readonly address: FunctionsAddress | undefined
  /** The runtimes of this node, of each language the newest first. */
  readonly runtimes: readonly string[]
  /** The key of all variables. */
  readonly environmentKey: string
  readonly region: string
  /** The hosts of the service itself. */
  readonly ownHosts: readonly string[]
}

/** The key of the variables of functions, from the secret of the data folder. */
export const environmentKeyOf = (secret: string): string =>
  createHmac('sha256', secret).update('ergon function environments').digest('base64url')
