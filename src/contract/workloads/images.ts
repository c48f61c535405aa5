// The documents of an image: index, manifest, configuration, and the files beside them in a layout or an archive.
// Sources: OCI image-spec 1.1, and Docker's manifest v2, schema 2, which has the same fields.
import { z } from 'zod'

export const LAYERS_MAX = 128
export const DIGEST = /^sha256:[\da-f]{64}$/

const digest = z.string().regex(DIGEST, 'must be a digest of SHA-256')
const descriptor = z.object({
  mediaType: z.string().default(''),
  digest,
  size: z.int().nonnegative(),
  annotations: z.record(z.string(), z.string()).optional(),
  platform: z
    .object({ os: z.string(), architecture: z.string(), variant: z.string().optional() })
    .optional(),
})
/** A document or a layer, by its digest and size. */
export type Descriptor = z.infer<typeof descriptor>

const index = z.object({ manifests: z.array(descriptor).max(1000) })
const manifest = z.object({ config: descriptor, layers: z.array(descriptor).max(LAYERS_MAX) })
export type Manifest = z.infer<typeof manifest>
export type ImageIndex = z.infer<typeof index>
/** An index, or the manifest of one image. */
export const imageDocument = z.union([index, manifest])

/** No process can be given others, and no document of the state can keep them. */
const text = z.string().refine((value) => value.isWellFormed() && !value.includes('\0'))
const texts = z.array(text).nullish()
/** `NAME=value`, or a name alone. */
const variables = z.array(text.regex(/^[^=]/)).nullish()
export const imageConfig = z.object({
  os: z.string(),
  architecture: z.string(),
  config: z
    .object({
      Entrypoint: texts,
      Cmd: texts,
      Env: variables,
      WorkingDir: text.nullish(),
      User: z.string().nullish(),
      ExposedPorts: z.record(z.string(), z.unknown()).nullish(),
      StopSignal: text.nullish(),
    })
    .nullish(),
  rootfs: z.object({ type: z.literal('layers'), diff_ids: z.array(digest).max(LAYERS_MAX) }),
})

/** The file `index.json` of a layout. */
export const layoutIndex = z.object({
  manifests: z.array(
    z.object({ digest, annotations: z.record(z.string(), z.string()).optional() }),
  ),
})

/** The file `manifest.json` of an archive of `docker save`. */
export const savedImages = z.array(
  z.object({
    Config: z.string(),
    RepoTags: z.array(z.string()).nullish(),
    Layers: z.array(z.string()).max(LAYERS_MAX),
  }),
)

/** A file of `docker login`: `auth` is the base64 of user:password. */
export const registryPasswords = z.object({
  auths: z.record(z.string(), z.object({ auth: z.base64() })),
})
export type RegistryPasswords = z.infer<typeof registryPasswords>
