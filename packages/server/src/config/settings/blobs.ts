import { blobPlace, secretIn } from '../parsers/blobs.ts'
import { fileContent, integer, oneOf, text } from '../parsers/basic.ts'
import { publicUrl } from '../parsers/urls.ts'
import { setting } from './setting.ts'

export const blobSettings = {
  BERTH_BLOBS: setting({
    default: '',
    shownDefault: 'blobs in the data directory',
    parse: blobPlace,
    help: 'Where profiles, recordings, extensions and the files of apps are: a directory, or s3://bucket/prefix. With several servers, one that all reach. Move what is stored with npm run admin -- move-blobs.',
  }),
  BERTH_S3_ENDPOINT: setting({
    default: '',
    shownDefault: "Amazon S3's",
    parse: publicUrl,
    help: 'URL of a compatible store, such as https://s3.internal:9000.',
  }),
  BERTH_S3_REGION: setting({
    default: '',
    shownDefault: 'AWS_REGION, or us-east-1 with an endpoint',
    parse: text,
    help: 'Region of the bucket.',
  }),
  BERTH_S3_PATH_STYLE: setting({
    default: 'auto',
    parse: oneOf('auto', 'true', 'false'),
    help: 'Whether the bucket is in the path of the URL instead of the name of the host. auto: with an endpoint, yes.',
  }),
  BERTH_S3_ACCESS_KEY_ID: setting({
    default: '',
    parse: text,
    help: 'Access key for the bucket. Empty: what the AWS SDK finds, such as AWS_* variables, a web identity, or the role of the machine.',
  }),
  BERTH_S3_SECRET_ACCESS_KEY: setting({
    default: '',
    parse: text,
    help: 'Secret of that access key.',
  }),
  BERTH_S3_SECRET_ACCESS_KEY_FILE: setting({
    default: '',
    isFile: true,
    parse: (path) => secretIn(fileContent(path)),
    help: 'File with that secret, instead of the secret itself.',
  }),
  BERTH_S3_SESSION_TOKEN: setting({
    default: '',
    parse: text,
    help: 'Session token, for an access key that needs one.',
  }),
  BERTH_BLOB_CACHE_MB: setting({
    default: '4096',
    unit: 'MB',
    parse: integer(0, 1_000_000_000),
    help: 'With S3: how much of the data directory may hold copies of what sessions and apps start with; 0 for none.',
  }),
}
