import { ArchiveError } from './archiveError';
import type { Block, ImageBlock, InlineImage, StoredImage, StoredMessage } from './message';
import type { BlobRead, Blobs, BlobSource } from './ports';

/** Whether a message carries image bytes itself, as Pi's messages do. */
export function hasInlineImage(message: StoredMessage): boolean {
  return 'content' in message && message.content.some(isInline);
}

/** The images of a message whose bytes are blobs. */
export function storedImages(message: StoredMessage): StoredImage[] {
  if (!('content' in message)) return [];
  return message.content.filter((block): block is StoredImage => block.type === 'image' && 'sha256' in block);
}

/**
 * The same message as a journal holds it (design.md section 4): each image named by the hash of its bytes, and these
 * on stable storage as a blob. Its key stays what it was. Rejects with an `ArchiveError` when an image could not be
 * stored; a blob that no journal line names in the end harms nobody.
 */
export async function storeImages(message: StoredMessage, blobs: Blobs): Promise<StoredMessage> {
  if (!hasInlineImage(message) || !('content' in message)) return message;
  const content: Block[] = [];
  for (const block of message.content) content.push(isInline(block) ? await stored(block, blobs) : block);
  return { ...message, content };
}

/** The bytes of an image, whichever way it is kept. */
export async function imageBytes(image: ImageBlock, blobs: BlobSource): Promise<BlobRead> {
  return 'data' in image
    ? { state: 'whole', bytes: Buffer.from(image.data, 'base64') }
    : blobs.read(image.sha256);
}

function isInline(block: Block): block is InlineImage {
  return block.type === 'image' && 'data' in block;
}

async function stored({ type, mimeType, data }: InlineImage, blobs: Blobs): Promise<StoredImage> {
  const bytes = Buffer.from(data, 'base64');
  try {
    return { type, mimeType, sha256: await blobs.put(bytes), bytes: bytes.length };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ArchiveError(
      'archive',
      `An image of ${bytes.length} bytes could not be stored: ${reason}. Its message was not kept, everything before it is safe. Free some disk space and try again.`,
      { cause: error },
    );
  }
}
