// The settings of the S3 protocol.

export type StorageSettings = {
  /** The region of buckets that name no other. */
  readonly region: string
  /** The most buckets that an account may have. */
  readonly bucketsMax: number
  /** Names of keys for SSE-KMS. */
  readonly keyIds: readonly string[]
  /** True: ACLs count in new buckets (AWS: false, since April 2023). */
  readonly acls: boolean
  /** True: new buckets encrypt by default (AWS: true, since January 2023). */
  readonly encrypts: boolean
  readonly website: {
    /** `<bucket>.<host>` is the bucket's website; lower case, without ports. */
    readonly hosts: readonly string[]
    /** The protocol in the addresses of websites. */
    readonly protocol: 'http' | 'https'
  }
}
