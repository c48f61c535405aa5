// The page of a pull.
import type { ImageConfig } from '#images/manifest.ts'

export type PulledPage = {
  readonly digest: string
  readonly config: ImageConfig
  /** That its files take of the disk. */
  readonly bytes: number
}

export type PullPage = {
  readonly doneBytes: number
  readonly totalBytes: number
  readonly pulled?: PulledPage
  readonly failure?: {
    readonly code: string
    readonly status: number
    readonly message: string
  }
}
