// Opens an image wherever its reference says that it is.
import { openLayout, type LayoutLimits } from './layout-source.ts'
import type { ImageReference } from './reference.ts'
import type { RegistryOptions } from './registry-requests.ts'
import { openRegistry } from './registry-source.ts'
import type { ImageSource } from './source.ts'

/** For `createImageStore`. */
export const openImage =
  (options: RegistryOptions & LayoutLimits) =>
  async (reference: ImageReference, signal: AbortSignal): Promise<ImageSource> =>
    reference.kind === 'registry'
      ? openRegistry(reference, options)
      : await openLayout(reference, options, signal)
