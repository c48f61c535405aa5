// The errors of the S3 protocol as data: the code in the XML, its HTTP status and the text that AWS
// answers with (Amazon S3 API Reference, "Error responses"). Clients branch on code and status; some
// suites compare the text too. Rendering is s3/render-error.ts.
import { ErgonError, type ErrorDetails } from '#base/errors.ts'

type Row = readonly [status: number, message: string]

/** Something named that does not exist. */
const ABSENT = {
  NoSuchBucket: [404, 'The specified bucket does not exist'],
  NoSuchKey: [404, 'The specified key does not exist.'],
  NoSuchVersion: [404, 'The specified version does not exist.'],
  NoSuchUpload: [
    404,
    'The specified upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed.',
  ],
  NoSuchAnnotation: [404, 'The specified annotation does not exist on this object.'],
  NoSuchBucketPolicy: [404, 'The bucket policy does not exist'],
  NoSuchConfiguration: [404, 'The specified configuration does not exist.'],
  NoSuchCORSConfiguration: [404, 'The CORS configuration does not exist'],
  NoSuchLifecycleConfiguration: [404, 'The lifecycle configuration does not exist'],
  NoSuchObjectLockConfiguration: [
    404,
    'The specified object does not have a ObjectLock configuration',
  ],
  NoSuchPublicAccessBlockConfiguration: [
    404,
    'The public access block configuration was not found',
  ],
  NoSuchTagSet: [404, 'The TagSet does not exist'],
  NoSuchWebsiteConfiguration: [404, 'The specified bucket does not have a website configuration'],
  MetadataConfigurationNotFound: [404, 'The specified metadata configuration does not exist.'],
  ObjectLockConfigurationNotFoundError: [
    404,
    'Object Lock configuration does not exist for this bucket',
  ],
  OwnershipControlsNotFoundError: [404, 'The bucket ownership controls were not found'],
  ReplicationConfigurationNotFoundError: [404, 'The replication configuration was not found'],
  ServerSideEncryptionConfigurationNotFoundError: [
    404,
    'The server side encryption configuration was not found',
  ],
} as const satisfies Record<string, Row>

/** The caller and its permissions. */
const REFUSED = {
  AccessDenied: [403, 'Access Denied'],
  AccessForbidden: [403, 'CORSResponse: This CORS request is not allowed.'],
  AccessControlListNotSupported: [400, 'The bucket does not allow ACLs'],
  AuthorizationHeaderMalformed: [400, 'The authorization header is malformed.'],
  AuthorizationQueryParametersError: [
    400,
    'Error parsing the X-Amz-Credential parameter; the Credential is mal-formed.',
  ],
  CredentialsNotSupported: [400, 'This request does not support credentials.'],
  ExpiredToken: [400, 'The provided token has expired.'],
  InvalidAccessKeyId: [403, 'The AWS Access Key Id you provided does not exist in our records.'],
  InvalidBucketAclWithObjectOwnership: [
    400,
    "Bucket cannot have ACLs set with ObjectOwnership's BucketOwnerEnforced setting",
  ],
  InvalidObjectState: [403, "The operation is not valid for the object's storage class"],
  InvalidSecurity: [403, 'The provided security credentials are not valid.'],
  InvalidToken: [400, 'The provided token is malformed or otherwise invalid.'],
  RequestTimeTooSkewed: [
    403,
    'The difference between the request time and the current time is too large.',
  ],
  SignatureDoesNotMatch: [
    403,
    'The request signature we calculated does not match the signature you provided. Check your key and signing method.',
  ],
} as const satisfies Record<string, Row>

/** Faults of the body's bytes and checksums. */
const BODY = {
  BadDigest: [400, 'The Content-MD5 you specified did not match what we received.'],
  EntityTooLarge: [400, 'Your proposed upload exceeds the maximum allowed size'],
  EntityTooSmall: [400, 'Your proposed upload is smaller than the minimum allowed size'],
  IncompleteBody: [
    400,
    'You did not provide the number of bytes specified by the Content-Length HTTP header',
  ],
  InvalidChunkSizeError: [
    403,
    'Only the last chunk is allowed to have a size less than 8192 bytes',
  ],
  InvalidDigest: [400, 'The Content-MD5 you specified was invalid'],
  InvalidPart: [
    400,
    "One or more of the specified parts could not be found. The part may not have been uploaded, or the specified entity tag may not match the part's entity tag.",
  ],
  InvalidPartNumber: [416, 'The requested partnumber is not satisfiable'],
  InvalidPartOrder: [
    400,
    'The list of parts was not in ascending order. Parts must be ordered by part number.',
  ],
  MalformedTrailerError: [
    400,
    'The request contained trailing data that was not well-formed or did not conform to our published schema.',
  ],
  MaxPostPreDataLengthExceededError: [
    400,
    'Your POST request fields preceding the upload file were too large.',
  ],
  MaxMessageLengthExceeded: [400, 'Your request was too big.'],
  UnsupportedMediaType: [415, 'The annotation payload is not valid UTF-8 encoded text.'],
  MissingContentLength: [411, 'You must provide the Content-Length HTTP header.'],
  MissingRequestBodyError: [400, 'Request body is empty.'],
  RequestTimeout: [
    400,
    'Your socket connection to the server was not read from or written to within the timeout period.',
  ],
  XAmzContentChecksumMismatch: [
    400,
    "The provided 'x-amz-checksum' header does not match what was computed.",
  ],
  XAmzContentSHA256Mismatch: [
    400,
    "The provided 'x-amz-content-sha256' header does not match what was computed.",
  ],
} as const satisfies Record<string, Row>

/** Faults of a name, a header, a parameter or a document. */
const MALFORMED = {
  AnnotationNameTooLong: [400, 'The annotation name exceeds 512 bytes.'],
  BadRequest: [400, 'Bad Request'],
  IllegalVersioningConfigurationException: [
    400,
    'Indicates that the versioning configuration specified in the request is invalid.',
  ],
  InvalidAnnotationName: [400, 'The annotation name you provided is invalid.'],
  InvalidArgument: [400, 'Invalid Argument'],
  InvalidBucketName: [400, 'The specified bucket is not valid.'],
  InvalidEncryptionAlgorithmError: [
    400,
    'The encryption request you specified is not valid. The valid value is AES256.',
  ],
  InvalidLocationConstraint: [400, 'The specified location-constraint is not valid'],
  InvalidPolicyDocument: [
    400,
    'The content of the form does not meet the conditions specified in the policy document.',
  ],
  InvalidRange: [416, 'The requested range is not satisfiable'],
  InvalidRedirectLocation: [
    400,
    "The website redirect location must have a prefix of 'http://' or 'https://' or '/'.",
  ],
  InvalidRequest: [400, 'Invalid Request'],
  InvalidRetentionPeriod: [400, 'The retention period must be a positive integer value.'],
  InvalidStorageClass: [400, 'The storage class you specified is not valid'],
  InvalidTag: [400, 'The tag provided was not a valid tag.'],
  InvalidTargetBucketForLogging: [400, 'The target bucket for logging does not exist'],
  InvalidURI: [400, "Couldn't parse the specified URI."],
  KeyTooLongError: [400, 'Your key is too long'],
  MalformedACLError: [
    400,
    'The XML you provided was not well-formed or did not validate against our published schema',
  ],
  MalformedPOSTRequest: [
    400,
    'The body of your POST request is not well-formed multipart/form-data.',
  ],
  MalformedPolicy: [400, 'Policies must be valid JSON and the first byte must be {'],
  MalformedXML: [
    400,
    'The XML you provided was not well-formed or did not validate against our published schema',
  ],
  MetadataTooLarge: [400, 'Your metadata headers exceed the maximum allowed metadata size'],
  MissingSecurityHeader: [400, 'Your request is missing a required header'],
  PostPolicyInvalidKeyName: [400, 'Invalid according to Policy: Policy Condition failed'],
  RequestHeaderSectionTooLarge: [
    400,
    'Your request header section exceeds the maximum allowed size.',
  ],
  UnexpectedContent: [400, 'This request does not support content'],
  UnresolvableGrantByEmailAddress: [
    400,
    'The e-mail address you provided does not match any account on record.',
  ],
} as const satisfies Record<string, Row>

/** Requests that the present state does not allow, and faults of the service. */
const STATE = {
  AnnotationLimitExceeded: [
    400,
    'The request would exceed the maximum number of annotations allowed per object.',
  ],
  BucketAlreadyExists: [
    409,
    'The requested bucket name is not available. The bucket namespace is shared by all users of the system. Please select a different name and try again.',
  ],
  BucketAlreadyOwnedByYou: [
    409,
    'Your previous request to create the named bucket succeeded and you already own it.',
  ],
  BucketNotEmpty: [409, 'The bucket you tried to delete is not empty'],
  ConditionalRequestConflict: [
    409,
    'The conditional request cannot succeed due to a conflicting operation against this resource.',
  ],
  InvalidBucketState: [409, 'The request is not valid with the current state of the bucket.'],
  OperationAborted: [
    409,
    'A conflicting conditional operation is currently in progress against this resource. Please try again.',
  ],
  TooManyBuckets: [400, 'You have attempted to create more buckets than allowed'],
  TooManyUploads: [
    400,
    'The bucket has as many open uploads as are allowed. Complete or abort some of them first.',
  ],
  NotModified: [304, 'Not Modified'],
  PreconditionFailed: [412, 'At least one of the pre-conditions you specified did not hold'],
  MethodNotAllowed: [405, 'The specified method is not allowed against this resource.'],
  NotImplemented: [501, 'A header you provided implies functionality that is not implemented.'],
  InternalError: [500, 'We encountered an internal error. Please try again.'],
  ServiceUnavailable: [503, 'Service is unable to handle request.'],
  SlowDown: [503, 'Please reduce your request rate.'],
  InsufficientStorage: [507, 'There is not enough storage left to hold what you sent.'],
  'KMS.NotFoundException': [400, 'Key is not found.'],
  'KMS.DisabledException': [400, 'The request was rejected because the specified key is disabled.'],
} as const satisfies Record<string, Row>

/** Every code that the S3 protocol may answer with. */
export const STORAGE_ERRORS = { ...ABSENT, ...REFUSED, ...BODY, ...MALFORMED, ...STATE } as const

export type StorageCode = keyof typeof STORAGE_ERRORS

/**
 * An S3 error: `.code` is the code of the XML, `.status` its HTTP status. `message` is AWS's own text
 * when absent; `details` become elements beside Code and Message (`BucketName`, `ArgumentName`, …).
 */
export function storageFault(
  code: StorageCode,
  message?: string,
  details: ErrorDetails = {},
  headers: Readonly<Record<string, string>> = {},
): ErgonError {
  const [status, text] = STORAGE_ERRORS[code]
  return new ErgonError({ code, status }, message ?? text, { details, headers })
}

export const isStorageCode = (code: string): code is StorageCode =>
  Object.hasOwn(STORAGE_ERRORS, code)
