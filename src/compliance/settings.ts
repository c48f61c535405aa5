// Settings that the agent gives to the other halves of evidence packs.
import type { BlobSettings } from '#blobs/stores.ts'

export type ComplianceGatewaySettings = {
  readonly blobs: BlobSettings
  /** Packs are kept for so many days. */
  readonly keptDays: number
}

export type ComplianceTaskSettings = Pick<ComplianceGatewaySettings, 'keptDays'>
