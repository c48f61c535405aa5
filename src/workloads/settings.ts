// The settings of workloads that the agent gives to the gateways.
import { createHmac } from 'node:crypto'
import type { FunctionsAddress } from '#contract/functions/functions-address.ts'
import type { ImageSettings } from './image-rule.ts'

export type WorkloadGatewaySettings = {
  /** Where they answer; undefined where the node runs none: those that there are can be listed and deleted. */
  readonly address: FunctionsAddress | undefined
  /** The key of all variables and secrets. */
  readonly environmentKey: string
  readonly region: string
  /** The hosts of the service itself. */
  readonly ownHosts: readonly string[]
  readonly images: Pick<ImageSettings, 'imageFolder'>
  /** The most bytes of all volumes of an account, full or not. */
  readonly volumeBytesMax: number
  /** Why the node has no volumes, in words. */
  readonly whyNoVolumes?: string | undefined
}

/** The key of the variables of workloads, from the secret of the data folder. */
export const workloadKeyOf = (secret: string): string =>
  createHmac('sha256', secret).update('ergon workload environments').digest('base64url')
