// Node's flags for a signer process. Measured with five of them: 25 MiB of PSS each at rest, 36 after
// 40,000 leaves; without flags 28 and 51. A young heap of 1 MiB saves 1 MiB more for more collections.
// Its code must be compiled beforehand (node/compiled.ts): the type stripper alone keeps 10 MB.
// See also base/node-http.ts.
export const SIGNER_FLAGS: readonly string[] = [
  '--max-semi-space-size=2',
  '--max-old-space-size=32',
]
