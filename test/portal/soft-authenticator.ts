// An authenticator in software: passkeys with ES256, and every figure that a test wants to be wrong. Attestation "none";
// authenticator data and COSE keys by hand (WebAuthn, level 3, §6.1 and §6.5.1; RFC 9053).
import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'

const USER_PRESENT = 0x01
const USER_VERIFIED = 0x04
const ATTESTED = 0x40

/** The figures of one answer that differ from those of an honest authenticator and browser. */
export type Wrong = {
  readonly origin?: string
  readonly rpId?: string
  readonly challenge?: string
  readonly isUnverified?: true
  readonly type?: string
  readonly counter?: number
  readonly crossOrigin?: true
  readonly userHandle?: string
  /** The format of an attestation with a certificate that is none. */
  readonly attestation?: string
}

type Options = { readonly challenge: string; readonly user?: { readonly id: string } }

export type SoftPasskey = {
  readonly id: string
  /** The answer to options of a registration, as browsers send it. */
  create(options: Options, wrong?: Wrong): object
  /** The answer to options of an assertion. */
  get(options: Options, wrong?: Wrong): object
}

/** A passkey of a device whose browser is at `origin`; `id` is that of its credential. */
export function newSoftPasskey(
  origin: string,
  id = randomBytes(16).toString('base64url'),
): SoftPasskey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const rawId = Buffer.from(id, 'base64url')
  let counter = 0
  let userHandle = ''
  const envelope = (response: object) => ({
    id,
    rawId: id,
    type: 'public-key',
    clientExtensionResults: {},
    authenticatorAttachment: 'platform',
    response,
  })
  const dataOf = (wrong: Wrong, attested: Buffer) =>
    Buffer.concat([
      createHash('sha256')
        .update(wrong.rpId ?? new URL(origin).hostname)
        .digest(),
      Buffer.from([
        USER_PRESENT |
          (wrong.isUnverified === true ? 0 : USER_VERIFIED) |
          (attested.length > 0 ? ATTESTED : 0),
      ]),
      unsigned32(wrong.counter ?? ++counter),
      attested,
    ])
  const clientDataOf = (type: string, { challenge }: Options, wrong: Wrong) =>
    Buffer.from(
      JSON.stringify({
        type: wrong.type ?? type,
        challenge: wrong.challenge ?? challenge,
        origin: wrong.origin ?? origin,
        crossOrigin: wrong.crossOrigin === true,
      }),
    )
  return {
    id,
    create(options, wrong = {}) {
      userHandle = options.user?.id ?? ''
      const attested = Buffer.concat([
        Buffer.alloc(16),
        Buffer.from([0, rawId.length]),
        rawId,
        coseKey(publicKey),
      ])
      const authData = dataOf(wrong, attested)
      const attestationObject = Buffer.concat([
        Buffer.from([0xa3]),
        text('fmt'),
        text(wrong.attestation ?? 'none'),
        text('attStmt'),
        ...(wrong.attestation === undefined ? [Buffer.from([0xa0])] : CERTIFICATES),
        text('authData'),
        bytes(authData),
      ])
      return envelope({
        clientDataJSON: clientDataOf('webauthn.create', options, wrong).toString('base64url'),
        attestationObject: attestationObject.toString('base64url'),
        transports: ['internal'],
      })
    },
    get(options, wrong = {}) {
      const clientData = clientDataOf('webauthn.get', options, wrong)
      const authData = dataOf(wrong, Buffer.alloc(0))
      const signed = Buffer.concat([authData, createHash('sha256').update(clientData).digest()])
      return envelope({
        clientDataJSON: clientData.toString('base64url'),
        authenticatorData: authData.toString('base64url'),
        signature: sign('sha256', signed, privateKey).toString('base64url'),
        ...(userHandle === '' ? {} : { userHandle: wrong.userHandle ?? userHandle }),
      })
    },
  }
}

function unsigned32(value: number): Buffer {
  const buffer = Buffer.alloc(4)
  buffer.writeUInt32BE(value)
  return buffer
}

/** CBOR (RFC 8949) of a short text, and of bytes. */
const text = (value: string): Buffer =>
  Buffer.concat([Buffer.from([0x60 | value.length]), Buffer.from(value)])
const bytes = (value: Buffer): Buffer =>
  Buffer.concat([
    value.length < 256
      ? Buffer.from([0x58, value.length])
      : Buffer.from([0x59, value.length >> 8, value.length & 0xff]),
    value,
  ])

/** {x5c: [32 bytes]} */
const CERTIFICATES = [
  Buffer.from([0xa1]),
  text('x5c'),
  Buffer.from([0x81]),
  bytes(Buffer.alloc(32)),
]

/** {1: 2 (EC2), 3: -7 (ES256), -1: 1 (P-256), -2: x, -3: y} */
function coseKey(key: KeyObject): Buffer {
  const { x = '', y = '' } = key.export({ format: 'jwk' })
  return Buffer.concat([
    Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21]),
    bytes(Buffer.from(x, 'base64url')),
    Buffer.from([0x22]),
    bytes(Buffer.from(y, 'base64url')),
  ])
}
