// The settings of object storage.
import { z } from 'zod'
import { count, onOff } from '#config/checks.ts'
import { S3_ADDRESS, s3Endpoint, s3Key, s3Region, s3Stores } from '#config/s3-stores.ts'
import type { Settings } from '#config/setting.ts'

export const STORAGE_SETTINGS = {
  storageDayS: {
    name: 'ERGON_STORAGE_DAY_S',
    flag: 'storage-day-s',
    help: 'How long a day of lifecycle rules lasts, in seconds, for trying them (default 86400)',
    check: count(1, 86_400).default(86_400),
  },
  storageMilliwattsPerTb: {
    name: 'ERGON_STORAGE_MILLIWATTS_PER_TB',
    flag: 'storage-milliwatts-per-tb',
    help: 'Power of storing 10¹² bytes, in milliwatts: what stored bytes are charged at; 0 for nothing (default 1200: an SSD by the Cloud Carbon Footprint coefficients, of a disk 650)',
    check: count(0, 1_000_000_000_000).default(1200),
  },
  storageMinuteS: {
    name: 'ERGON_STORAGE_MINUTE_S',
    flag: 'storage-minute-s',
    help: 'How often stored bytes are charged, in seconds, for trying it (default 60)',
    check: count(1, 60).default(60),
  },
  storageKmsKeys: {
    name: 'ERGON_STORAGE_KMS_KEYS',
    flag: 'storage-kms-keys',
    help: 'Names of keys that objects may be encrypted with (SSE-KMS), by comma; the keys follow from the secret of the data folder',
    check: z
      .string()
      .regex(/^[\w.-]{1,64}(,[\w.-]{1,64})*$/, 'must be names by comma')
      .transform((text) => text.split(','))
      .default([]),
  },
  storageBuckets: {
    name: 'ERGON_STORAGE_BUCKETS',
    flag: 'storage-buckets',
    help: 'Buckets that an account may have; more are 400 TooManyBuckets, and those that are there stay (default 1000)',
    check: count(1, 1_000_000).default(1000),
  },
  storageAcls: {
    name: 'ERGON_STORAGE_ACLS',
    flag: 'storage-acls',
    help: 'Whether access control lists count in new buckets: on or off (default off, as at AWS)',
    check: onOff.default(false),
  },
  storageEncryption: {
    name: 'ERGON_STORAGE_ENCRYPTION',
    flag: 'storage-encryption',
    help: 'Whether new buckets encrypt what is put into them (SSE-S3), as at AWS: on or off (default off, as reading a large object then takes six times the CPU)',
    check: onOff.default(false),
  },
  storageWebsiteHost: {
    name: 'ERGON_STORAGE_WEBSITE_HOST',
    flag: 'storage-website-host',
    help: 'Name below which buckets are websites, as <bucket>.<name> (default website. before the name of the API)',
    check: z
      .string()
      .regex(/^[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})*$/, 'must be a host name in lower case')
      .optional(),
  },
  storageBlobs: {
    name: 'ERGON_STORAGE_BLOBS',
    flag: 'storage-blobs',
    help: 'Where new large bodies go: fs, or s3://bucket/prefix of an S3 store (default fs); `ergon storage move` brings the old ones',
    check: z
      .string()
      .refine((text) => text === 'fs' || S3_ADDRESS.test(text), {
        message: 'must be fs, or s3://bucket/prefix without a slash at its end',
      })
      .default('fs'),
  },
  storageS3Endpoint: {
    name: 'ERGON_STORAGE_S3_ENDPOINT',
    flag: 'storage-s3-endpoint',
    help: 'Address of the S3 store (default: AWS in the region)',
    check: s3Endpoint.optional(),
  },
  storageS3Region: {
    name: 'ERGON_STORAGE_S3_REGION',
    flag: 'storage-s3-region',
    help: 'Region of the S3 store (default us-east-1)',
    check: s3Region.default('us-east-1'),
  },
  storageS3Key: {
    name: 'ERGON_STORAGE_S3_KEY',
    flag: 'storage-s3-key-file',
    isSecret: true,
    help: 'Key of the S3 store, as access:secret; needed while bodies are there',
    check: s3Key.optional(),
  },
  storageS3Stores: {
    name: 'ERGON_STORAGE_S3_STORES',
    flag: 'storage-s3-stores-file',
    isSecret: true,
    help: 'S3 stores with a key of their own, as JSON: [{"store": "s3://bucket/prefix", "endpoint", "region", "key"}]; the three settings before this are for all others',
    check: s3Stores.default([]),
  },
} satisfies Settings
