source "amazon-ebs" "example" {
  ami_name      = "packer-${formatdate("YYYYMMDD", timestamp())}"
  instance_type = "t2.micro"
}

build {
  sources = ["source.amazon-ebs.example"]
  provisioner "shell" {
    inline = ["echo ${build.ID} > $HOME/id", "sleep 30"]
  }
}
