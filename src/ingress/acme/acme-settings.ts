// Where certificates of routes are ordered.

export type AcmeSettings = {
  /** The address of the directory of the authority (RFC 8555, 7.1.1). */
  readonly directory: string
  /** The address of the operator: the authority writes there. Setting it agrees to the terms of the authority. */
  readonly email: string
  /** Certificates in PEM that the authority's own server is checked by; undefined: those of Node. */
  readonly roots: string | undefined
}
