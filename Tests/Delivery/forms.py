"""A form (multipart/form-data), read by Python's parser of mail, which others wrote."""
import email


def read(content_type, body):
    """Its fields as texts by name, and its files by name: (name of the file, content type,
    bytes)."""
    message = email.message_from_bytes(b"Content-Type: " + content_type.encode() + b"\r\n\r\n" + body)
    assert message.get_content_type() == "multipart/form-data" and message.is_multipart() and not message.defects, message.defects
    fields, files = {}, {}
    for part in message.get_payload():
        assert part.get_content_disposition() == "form-data" and not part.defects, part.defects
        name, data = part.get_param("name", header="content-disposition"), part.get_payload(decode=True)
        assert name not in fields and name not in files, name
        if part.get_filename():
            files[name] = (part.get_filename(), part.get_content_type(), data)
        else:
            fields[name] = data.decode()
    return fields, files
