// The annotations of an object, from one to another. CopyObject does it by itself.
import {
  GetObjectAnnotationCommand,
  paginateListObjectAnnotations,
  PutObjectAnnotationCommand,
} from '@aws-sdk/client-s3'
import type { ObjectPlace } from './place.ts'
import type { TransferSession } from './session.ts'

/** Copies each, one after the other. Throws what the service answers. */
export async function copyAnnotations(
  { s3, signal }: TransferSession,
  from: ObjectPlace & { readonly versionId: string | undefined },
  to: ObjectPlace,
): Promise<void> {
  const source = { Bucket: from.bucket, Key: from.key, VersionId: from.versionId }
  const sent = { abortSignal: signal }
  const pages = paginateListObjectAnnotations({ client: s3 }, source, sent)
  for await (const { Annotations = [] } of pages) {
    for (const { AnnotationName } of Annotations) {
      const read = new GetObjectAnnotationCommand({ ...source, AnnotationName })
      // At most 1 MiB.
      const { AnnotationPayload } = await s3.send(read, sent)
      const written = new PutObjectAnnotationCommand({
        Bucket: to.bucket,
        Key: to.key,
        AnnotationName,
        AnnotationPayload: (await AnnotationPayload?.transformToByteArray()) ?? '',
      })
      await s3.send(written, sent)
    }
  }
}
