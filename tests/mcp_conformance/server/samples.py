"""The smallest files of the media types that the scenarios ask for."""

import base64
import io
import wave
import zlib

__all__ = ["PNG", "PNG_TEXT", "WAV_TEXT"]


def _make_png() -> bytes:
    """Return one red pixel (ISO/IEC 15948, section 5)."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return len(data).to_bytes(4) + kind + data + zlib.crc32(kind + data).to_bytes(4)

    # Width and height, 8 bits a sample, truecolour; no other options.
    header = chunk(b"IHDR", (1).to_bytes(4) * 2 + bytes([8, 2, 0, 0, 0]))
    pixel = chunk(b"IDAT", zlib.compress(b"\0\xff\0\0"))
    return b"\x89PNG\r\n\x1a\n" + header + pixel + chunk(b"IEND", b"")


def _make_wav() -> bytes:
    """Return one silent sample."""
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(2)
        writer.setframerate(8000)
        writer.writeframes(b"\0\0")
    return file.getvalue()


PNG = _make_png()
PNG_TEXT = base64.b64encode(PNG).decode()
WAV_TEXT = base64.b64encode(_make_wav()).decode()
