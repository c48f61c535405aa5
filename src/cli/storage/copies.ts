// Objects into other objects: the service copies, no byte passes through here.
import { basename } from 'node:path'
import { CopyObjectCommand, HeadObjectCommand } from '@aws-sdk/client-s3'
import { objectsBelow } from './objects.ts'
import { folderOf, keyIn, type ObjectPlace } from './place.ts'
import type { Session } from './session.ts'
import type { Transfer } from './transfers.ts'

type Plan = { readonly from: ObjectPlace; readonly to: ObjectPlace; readonly recursive: boolean }

/** One object, or with `recursive` everything below a prefix to below another. */
export async function copies(session: Session, { from, to, recursive }: Plan): Promise<Transfer[]> {
  if (!recursive) {
    const key = keyIn(to.key, basename(from.key))
    return [copy(session, { from, to: { ...to, key }, bytes: undefined })]
  }
  const prefix = folderOf(from.key)
  const objects = await objectsBelow(session, { ...from, key: prefix })
  return objects.map(({ key, size }) => {
    const target = { ...to, key: folderOf(to.key) + key.slice(prefix.length) }
    return copy(session, { from: { ...from, key }, to: target, bytes: size })
  })
}

type Copy = {
  readonly from: ObjectPlace
  readonly to: ObjectPlace
  readonly bytes: number | undefined
}

const copy = ({ s3, signal }: Session, { from, to, bytes }: Copy): Transfer => ({
  bytes,
  run: async ({ expected, moved }) => {
    const target = { Bucket: to.bucket, Key: to.key }
    const key = from.key.split('/').map(encodeURIComponent).join('/')
    const asked = new CopyObjectCommand({ ...target, CopySource: `${from.bucket}/${key}` })
    await s3.send(asked, { abortSignal: signal })
    if (bytes !== undefined) return moved(bytes)
    // The answer to a copy does not say how large it is.
    const made = await s3.send(new HeadObjectCommand(target), { abortSignal: signal })
    expected(made.ContentLength ?? 0)
    moved(made.ContentLength ?? 0)
  },
})
