// The page of a pull.
import type { ImageConfig } from '#images/manifest.ts'

export type PullPage = {
  readonly doneBytes: number
  readonly totalBytes: number
  readonly pulled?: { readonly digest: string; readonly config: ImageConfig }
  readonly failure?: {
    readonly code: string
    readonly status: number
    readonly message: string
  }
}
