// The owner of buckets and another account, which may what their policies say.
import { after, before } from 'node:test'
import {
  CreateBucketCommand,
  PutBucketPolicyCommand,
  PutObjectCommand,
  type CreateBucketCommandInput,
  type PutObjectCommandInput,
  type S3Client,
} from '@aws-sdk/client-s3'
import { createPresignedPost } from '@aws-sdk/s3-presigned-post'
import { s3ClientOf } from '../s3-client.ts'
import type { Ergon } from '../start-ergon.ts'
import { withClient } from './client.ts'

export const DENIED = { name: 'AccessDenied' }

export const UNTIL = new Date('2099-01-01')
export const LOCK = { ObjectLockMode: 'GOVERNANCE', ObjectLockRetainUntilDate: UNTIL } as const
export const LOCKABLE = {
  ObjectLockEnabledForBucket: true,
  ObjectOwnership: 'ObjectWriter',
} as const

type Opened = {
  readonly ergon: Ergon
  readonly s3: S3Client
  readonly stranger: S3Client
  /** The account of the stranger. */
  readonly account: string
  readonly token: string
}

export type Fields = Readonly<Record<string, string>>

type Said = {
  readonly Principal?: '*'
  readonly Resource?: readonly string[]
  readonly Action: string | readonly string[]
  readonly Effect?: string
  readonly Condition?: object
}

/** Opens both for the tests of a part, and closes them after it. */
export function withStranger(opened: (both: Opened) => void) {
  let ergon: Ergon
  let s3: S3Client
  let stranger: S3Client
  let account: string
  let token: string

  withClient((own) => ({ ergon, s3 } = own))
  before(async () => {
    ;({ id: account } = await ergon.control('account.create', { env: 'test' }))
    const asked = { scope: 'deploy', account } as const
    ;({ token } = await ergon.control('token.create', asked))
    stranger = s3ClientOf(ergon, token)
    opened({ ergon, s3, stranger, account, token })
  })
  after(() => stranger.destroy())

  return {
    /** Replaces the policy of a bucket: what is said is said of the stranger and of its keys. */
    async say(Bucket: string, ...said: readonly Said[]): Promise<void> {
      const Policy = JSON.stringify({
        Statement: said.map((one) => ({
          Effect: 'Allow',
          Principal: { AWS: account },
          Resource: `arn:aws:s3:::${Bucket}/*`,
          ...one,
        })),
      })
      await s3.send(new PutBucketPolicyCommand({ Bucket, Policy }))
    },
    async make(
      Bucket: string,
      more: Omit<CreateBucketCommandInput, 'Bucket'> = {},
    ): Promise<string> {
      await s3.send(new CreateBucketCommand({ Bucket, ...more }))
      return Bucket
    },
    put: async (
      client: S3Client,
      Bucket: string,
      Key: string,
      more: Partial<PutObjectCommandInput> = {},
    ) => await client.send(new PutObjectCommand({ Bucket, Key, Body: 'text', ...more })),
    /** A request of the stranger's by hand. */
    async ask(method: string, path: string, headers: object = {}, body?: string) {
      const authorization = `Bearer ${token}`
      const sent = { method, headers: { authorization, ...headers }, ...(body && { body }) }
      const answer = await fetch(ergon.baseUrl + path, sent)
      return { status: answer.status, text: await answer.text() }
    },
    /** The status of a form that the stranger signed with all that it says. */
    async postForm(Bucket: string, more: Fields, headers: Fields = {}): Promise<number> {
      const Conditions = Object.entries(more).map(([name, value]) => ({ [name]: value }))
      const asked = { Bucket, Key: 'form', Fields: more, Conditions }
      const { fields } = await createPresignedPost(stranger, asked)
      const data = new FormData()
      for (const [name, value] of Object.entries(fields)) data.append(name, value)
      data.append('file', new Blob(['text']), 'name.txt')
      const sent = { method: 'POST', headers, body: data }
      const answer = await fetch(`${ergon.baseUrl}/${Bucket}`, sent)
      await answer.arrayBuffer()
      return answer.status
    },
  }
}
