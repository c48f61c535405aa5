// Where the documents and layers of an image are read from.
import type { Descriptor } from '#contract/workloads/images.ts'

export type ImageSource = AsyncDisposable & {
  /** A file of this machine: what breaks off is damaged, and another try finds the same. */
  readonly isLocal: boolean
  /** The first document of the reference: its bytes are checked where the reference has a digest. */
  root(signal: AbortSignal): Promise<Buffer>
  /** The bytes of a blob from an offset on, unchecked. A source that cannot begin there begins at 0 and says so. */
  blob(
    descriptor: Descriptor,
    from: number,
    signal: AbortSignal,
  ): Promise<{ readonly from: number; readonly bytes: AsyncIterable<Buffer> }>
}
