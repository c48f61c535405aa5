terraform {
  required_version = ">= 1.5"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 5.0"
    }
  }
}

resource "aws_instance" "web" {
  count         = length(var.zones)
  ami           = data.aws_ami.ubuntu.id
  instance_type = lookup(var.types, terraform.workspace, "t3.micro")
  tags          = merge(local.tags, { Name = "web-${count.index + 1}" })

  dynamic "ebs_block_device" {
    for_each = [for d in var.disks : d if d.size > 0]
    content {
      device_name = ebs_block_device.value["name"]
      volume_size = ebs_block_device.value.size
    }
  }

  lifecycle {
    ignore_changes = [tags["Updated"], ami]
  }
}

output "ids" {
  value = aws_instance.web[*].id
}
