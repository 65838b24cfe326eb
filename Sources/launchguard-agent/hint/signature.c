#include "hint/signature.h"

#include <string.h>

#ifdef LAUNCHGUARD_OPENSSL
#include <openssl/evp.h>

bool signature_is_possible(void)
{
    return true;
}

static bool is_signed(const uint8_t *document, size_t size, const uint8_t *signature, const uint8_t key[LG__HINT_KEY_BYTES])
{
    EVP_PKEY *public = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, key, LG__HINT_KEY_BYTES);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    const bool is_right = public && context && EVP_DigestVerifyInit(context, NULL, NULL, NULL, public) == 1 &&
                          EVP_DigestVerify(context, signature, HINT_SIGNATURE_BYTES, document, size) == 1;
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(public);
    return is_right;
}
#else
bool signature_is_possible(void)
{
    return false;
}

static bool is_signed(const uint8_t *document, size_t size, const uint8_t *signature, const uint8_t key[LG__HINT_KEY_BYTES])
{
    (void)document, (void)size, (void)signature, (void)key;
    return false;
}
#endif

/* Without "=" at the end, and without spare bits, so that a document has one form. Returns the
 * bytes; −1: it is none, or has more than `room`. */
static long decode(const char *text, size_t size, uint8_t *to, size_t room)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    uint32_t word = 0, bits = 0;
    size_t bytes = 0;
    for (size_t i = 0; i < size; i++) {
        const char *digit = memchr(digits, text[i], sizeof digits - 1);
        if (!digit)
            return -1;
        word = (word << 6 | (uint32_t)(digit - digits)) & 0xffff;
        bits += 6;
        if (bits < 8)
            continue;
        bits -= 8;
        if (bytes == room)
            return -1;
        to[bytes++] = (uint8_t)(word >> bits);
    }
    return bits < 6 && (word & ((1u << bits) - 1)) == 0 ? (long)bytes : -1;
}

const char *signature_check(const char *header, const uint8_t key[LG__HINT_KEY_BYTES], char ret_document[HINT_DOCUMENT_MAX + 1], size_t *ret_size)
{
    uint8_t signature[HINT_SIGNATURE_BYTES];
    const char *dot = strchr(header, '.');
    if (!signature_is_possible())
        return "this agent was built without OpenSSL, and cannot check its signature";
    if (!dot)
        return "it has no signature";
    const long size = decode(header, (size_t)(dot - header), (uint8_t *)ret_document, HINT_DOCUMENT_MAX);
    if (size <= 0)
        return "its document is not in base64url, or has more than 1024 bytes";
    if (decode(dot + 1, strlen(dot + 1), signature, sizeof signature) != sizeof signature)
        return "its signature is not 64 bytes in base64url";
    if (!is_signed((const uint8_t *)ret_document, (size_t)size, signature, key))
        return "its signature is not of the key in the configuration";
    ret_document[size] = 0;
    *ret_size = (size_t)size;
    return NULL;
}
