// Settings that the agent gives to the other halves of evidence packs.
import type { BlobSettings } from '#blobs/stores.ts'

export type ComplianceGatewaySettings = {
  readonly blobs: BlobSettings
  /** Days for which packs are kept. */
  readonly keptDays: number
}

export type ComplianceTaskSettings = Pick<ComplianceGatewaySettings, 'keptDays'>
